import type { z } from 'zod'
import type { Evidence } from './evidence.ts'

/** A component abstains with a reason when its evidence is missing; abstaining is never a zero. */
export interface Abstained {
  readonly abstained: string
}

/** A score in the component's range, before its weight, and what decided it. */
export interface Raw {
  readonly raw: number
  readonly detail: string
}

export type Outcome = Raw | Abstained

/** What a component's file states. */
interface RewardDefinition<Name extends string, Caps> {
  readonly name: Name
  readonly description: string
  /** Default weight: the largest contribution to R. Fitted to published totals, not itself published. */
  readonly maximum: number
  /** Closed interval every raw score lies in. */
  readonly range: readonly [min: number, max: number]
  /** What has to be gathered first; a component that needs a verdict is left out when there is no judge. */
  readonly needs: 'completion' | 'verdict'
  /** Limits that can be configured, with defaults; becomes the component's part of the config section. */
  readonly caps: z.ZodType<Caps>
  /** Pure and total: same evidence, same outcome; never throws. */
  readonly score: (evidence: Evidence, caps: Caps) => Outcome
}

/** A component as the registry holds it, the type of its caps sealed inside `configure`. */
export interface RewardComponent<Name extends string = string> extends Omit<RewardDefinition<Name, unknown>, 'score'> {
  /** Binds the component to its caps; throws a ZodError when they are invalid. */
  readonly configure: (caps: unknown) => (evidence: Evidence) => Outcome
}

/** Declares one component. A file of `rewards/components/` exports the result as `reward`, under the file's name. */
export const defineReward = <const Name extends string, Caps>(
  definition: RewardDefinition<Name, Caps>,
): RewardComponent<Name> => {
  const { score, ...rest } = definition
  return {
    ...rest,
    configure: (input) => {
      const caps = rest.caps.parse(input)
      return (evidence) => score(evidence, caps)
    },
  }
}
