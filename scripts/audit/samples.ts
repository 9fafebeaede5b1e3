import { createHash } from 'node:crypto'
import { countCodePoints } from '../../data/completion/text.ts'
import { inTurn } from '../../data/pool/in-turn.ts'
import { nodeIds, type NodeId } from '../../data/records/node.ts'
import type { Prompt } from '../../data/records/prompt.ts'
import type { AuditSample } from '../../judge/audit/audit.ts'
import { distinct, type Question } from '../../judge/audit/questions.ts'
import type { TwinSuite } from '../../judge/audit/twins.ts'
import { createComposite } from '../../rewards/composite.ts'
import type { RewardsConfig } from '../../rewards/config.ts'
import { gatherEvidence } from '../../rewards/evidence.ts'
import type { GivenCompletion } from '../score/given-completion.ts'
import type { PromptIndex } from '../score/prompts.ts'

const nodeOf = ({ prompt }: Question): NodeId => prompt.node

/** The completions of the twins as they are before anything is done to them, and the right ones: each once. */
export const builtInCompletions = (suites: readonly TwinSuite[]): Question[] => {
  const ladder = suites.filter(({ rule }) => rule.kind === 'must_rise').flatMap(({ twins }) => twins)
  const plain = suites.filter(({ rule }) => rule.kind === 'must_not_rise').flatMap(({ twins }) => twins)
  const questions = [
    ...ladder.flatMap(({ prompt, plain: wrong, doctored: right }) => [
      { prompt, completion: right },
      { prompt, completion: wrong },
    ]),
    ...plain.map(({ prompt, plain: completion }) => ({ prompt, completion })),
  ]
  return inTurn(distinct(questions), nodeOf)
}

interface Drawn {
  readonly prompt: Prompt
  readonly completion: string
  readonly at: string
}

/**
 * Draws about `count` different completions from a stream, an equal part for each node. Which ones are drawn depends on
 * their content alone, not on their order; memory holds no more than are drawn.
 */
export const drawCompletions = async (
  given: AsyncIterable<GivenCompletion>,
  prompts: PromptIndex,
  count: number,
): Promise<Question[]> => {
  const each = Math.ceil(count / nodeIds.length)
  const drawn = new Map<NodeId, Drawn[]>(nodeIds.map((node) => [node, []]))
  for await (const one of given) {
    const prompt = prompts.of(one)
    const at = createHash('sha256')
      .update(JSON.stringify([prompt.id, one.text]))
      .digest('hex')
    const own = drawn.get(prompt.node) ?? []
    const last = own.at(-1)
    if (own.some((other) => other.at === at) || (own.length >= each && last !== undefined && at > last.at)) continue
    const kept = [...own, { prompt, completion: one.text, at }].toSorted((a, b) => (a.at < b.at ? -1 : 1))
    drawn.set(prompt.node, kept.slice(0, each))
  }
  return inTurn([...drawn.values()].flat(), nodeOf).slice(0, count)
}

/** Adds what scores should not merely follow: the length in code points, and each structural component. */
export const withFeatures = (questions: readonly Question[], rewards: RewardsConfig): AuditSample[] => {
  const { score } = createComposite(rewards, false)
  return questions.map(({ prompt, completion }) => {
    const structure = score(gatherEvidence(rewards.profile, prompt.facts, completion))
    const components = structure.kind === 'scored' ? structure.components : {}
    const raw = Object.fromEntries(Object.entries(components).map(([name, component]) => [name, component.raw]))
    return { prompt, completion, features: { length: countCodePoints(completion), ...raw } }
  })
}
