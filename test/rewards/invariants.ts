import { parseCompletion } from '../../data/completion/parse.ts'
import type { NodeId } from '../../data/records/node.ts'
import type { Score } from '../../data/records/reward.ts'
import { createComposite, type Composite } from '../../rewards/composite.ts'
import { RewardsConfig } from '../../rewards/config.ts'
import { gatherEvidence, profiles, type Judgement, type Profile } from '../../rewards/evidence.ts'
import { samplePrompts } from '../judge/samples.ts'

const composites: Record<Profile, Composite> = {
  paper: createComposite(RewardsConfig.parse({ profile: 'paper' }), true),
  hardened: createComposite(RewardsConfig.parse({ profile: 'hardened' }), true),
}

const judgement: Judgement = {
  kind: 'verdict',
  verdict: { score: 0.7, reason: 'fixed', model: 'test', cached: false, latencyMs: 0 },
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** What JSON.parse makes of an answer, where it can judge: an object or not. */
const nativeVerdict = (answer: string): boolean => {
  try {
    return isObject(JSON.parse(answer))
  } catch {
    return false
  }
}

const STRICTER = /^(?:duplicate key|more than 32 containers)/u

/** Compares the strict reading of the answer with the platform's own parser. */
const disagreement = (text: string): string | null => {
  const { envelope, answer } = parseCompletion(text)
  if (envelope.body === null) return null
  const native = nativeVerdict(envelope.body.answer)
  if (answer.ok === native) return null
  return !answer.ok && STRICTER.test(answer.reason) ? null : `JSON.parse says ${native}, strict says ${answer.ok}`
}

const MAXIMUM = 5.6
const MINIMUM = -0.5

const faultOfScore = (score: Score): string | null => {
  if (score.kind === 'unscored') return `unscored: ${score.reason}`
  const weighted = Object.values(score.components).map((component) => component.weighted)
  if (weighted.length !== 9) return `${weighted.length} components`
  const sum = weighted.reduce((total, value) => total + value, 0)
  if (!(Math.abs(sum - score.total) < 1e-9)) return `contributions sum to ${sum}, total is ${score.total}`
  return score.total >= MINIMUM - 1e-9 && score.total <= MAXIMUM + 1e-9 ? null : `total ${score.total} is out of range`
}

const totalOf = (score: Score): number => (score.kind === 'scored' ? score.total : Number.NaN)

/** Checks everything that must hold for any string at all; null when all of it does. */
export const faultOf = (node: NodeId, text: string): string | null => {
  const { facts } = samplePrompts[node]
  const [paper, hardened] = profiles.map((profile) =>
    composites[profile].score(gatherEvidence(profile, facts, text, judgement)),
  )
  if (paper === undefined || hardened === undefined) return 'a profile is missing'
  const fault = faultOfScore(paper) ?? faultOfScore(hardened) ?? disagreement(text)
  if (fault !== null) return fault
  return totalOf(hardened) <= totalOf(paper) + 1e-9 ? null : 'the hardened profile pays more than the paper one'
}
