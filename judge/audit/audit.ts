import type { AuditDistribution, AuditReport } from '../../data/records/audit.ts'
import { nodeIds, type NodeId } from '../../data/records/node.ts'
import { JudgeError, type OpenJudge } from '../judge.ts'
import { referenceJudge } from '../reference.ts'
import { findingsOf, warningsOf } from './conclude.ts'
import { correlateFeatures, describeNoise, describeScores, type ScoredSample } from './distribution.ts'
import { askRound, distinct, type Answer, type AskOptions, type Question, type Round } from './questions.ts'
import { evaluateSuite, suspects, tolerance, twinQuestions } from './suite.ts'
import type { TwinSuite } from './twins.ts'

/** A completion for the score distribution. */
export interface AuditSample extends Question {
  /** Its length and structural scores, by name: what scores should not merely follow. */
  readonly features: Readonly<Record<string, number>>
}

export interface AuditRequest extends AskOptions {
  readonly form: AuditReport['form']
  /** Opens the judge with nothing remembered: a verdict of another round must not come back. */
  readonly openJudge: () => Promise<OpenJudge>
  readonly suites: readonly TwinSuite[]
  readonly samples: readonly AuditSample[]
  readonly completionsFrom: string
  /** How many samples are asked about twice. */
  readonly repeats: number
}

/** Rounds in which a suspicious twin must be confirmed. */
const confirmingRounds = 4

/** What an audit asks, without asking it. */
export interface AuditPlan {
  readonly twins: number
  readonly samples: number
  /** Distinct questions of the first round. */
  readonly first: number
  readonly repeats: number
  /** Most questions in all: every twin would have to be suspicious. */
  readonly atMost: number
}

const firstQuestions = ({ suites, samples }: AuditRequest): Question[] =>
  distinct([...suites.flatMap(twinQuestions), ...samples])

const repeated = ({ samples, repeats }: AuditRequest): Question[] => distinct(samples).slice(0, repeats)

/** Counts the questions of an audit. */
export const planAudit = (request: AuditRequest): AuditPlan => {
  const twins = distinct(request.suites.flatMap(twinQuestions)).length
  const first = firstQuestions(request).length
  const repeats = repeated(request).length
  return {
    twins: request.suites.reduce((sum, suite) => sum + suite.twins.length, 0),
    samples: request.samples.length,
    ...{ first, repeats },
    atMost: first + repeats + confirmingRounds * twins,
  }
}

interface Asked {
  readonly judge: string
  readonly first: Round
  /** The rounds after the first; the second one also repeats samples. */
  readonly again: readonly Round[]
}

/** One round with a judge of its own. */
const round = async (request: AuditRequest, questions: readonly Question[]): Promise<Round & { judge: string }> => {
  const judge = await request.openJudge()
  try {
    return { judge: judge.name, ...(await askRound(judge, questions, request)) }
  } finally {
    await judge.close()
  }
}

const requireAnswers = ({ judge, answers }: Round & { judge: string }): void => {
  const failures = answers.flatMap((answer) => ('failure' in answer ? [answer.failure] : []))
  if (answers.length === 0 || failures.length < answers.length) return
  throw new JudgeError(`${judge} answered none of ${answers.length} questions: ${failures[0]}`, {
    remedy: 'Look at its log, and start it anew.',
  })
}

const askAll = async (request: AuditRequest): Promise<Asked> => {
  const first = await round(request, firstQuestions(request))
  requireAnswers(first)
  const doubtful = request.suites.flatMap((suite) => twinQuestions(suspects(suite, first)))
  const again: Round[] = []
  for (let i = 0; i < confirmingRounds; i += 1) {
    const questions = i === 0 ? [...repeated(request), ...doubtful] : doubtful
    if (questions.length > 0) again.push(await round(request, questions))
  }
  return { judge: first.judge, first, again }
}

const secondOpinion = async ({ prompt, completion }: Question): Promise<number | null> =>
  prompt.target === null ? null : (await referenceJudge.judge({ prompt, completion })).score

const scoreSamples = async ({ samples }: AuditRequest, first: Round): Promise<(ScoredSample & { node: NodeId })[]> => {
  const scored = samples.map(async (sample) => {
    const score = first.scoreOf(sample)
    const { node } = sample.prompt
    return score === null ? [] : [{ node, score, reference: await secondOpinion(sample), features: sample.features }]
  })
  return (await Promise.all(scored)).flat()
}

const countReasons = (answers: readonly Answer[]): AuditReport['reasons'] => {
  const counts = new Map<string, number>()
  for (const answer of answers)
    if ('failure' in answer) counts.set(answer.failure, (counts.get(answer.failure) ?? 0) + 1)
  return [...counts].map(([reason, count]) => ({ reason, count })).toSorted((a, b) => b.count - a.count)
}

const noisePairs = (request: AuditRequest, { first, again: [second] }: Asked): (readonly [number, number])[] =>
  repeated(request).flatMap((question) => {
    const [before, after] = [first.scoreOf(question), second?.scoreOf(question) ?? null]
    return before === null || after === null ? [] : [[before, after] as const]
  })

/**
 * Puts a judge to the test: how it scores given completions, how it repeats itself, and whether doctored twins fool it.
 * Throws a JudgeError when it answers nothing at all.
 */
export const auditJudge = async (request: AuditRequest): Promise<AuditReport> => {
  const started = performance.now()
  const asked = await askAll(request)
  const answers = [asked.first, ...asked.again].flatMap((one) => one.answers)
  const samples = await scoreSamples(request, asked.first)
  const compared = asked.judge !== referenceJudge.name
  const nodes = nodeIds.flatMap((node): (readonly [NodeId, AuditDistribution])[] => {
    const described = describeScores(
      samples.filter((sample) => sample.node === node),
      compared,
    )
    return described === null ? [] : [[node, described]]
  })
  const reasons = countReasons(answers)
  const evidence = {
    at: new Date().toISOString(),
    ...{ judge: asked.judge, form: request.form, completionsFrom: request.completionsFrom, tolerance },
    questions: answers.length,
    unanswered: reasons.reduce((sum, { count }) => sum + count, 0),
    reasons,
    all: describeScores(samples, compared),
    nodes: Object.fromEntries(nodes),
    correlations: correlateFeatures(samples),
    noise: describeNoise(noisePairs(request, asked)),
    suites: request.suites.map((suite) => evaluateSuite(suite, asked.first, asked.again)),
    seconds: (performance.now() - started) / 1000,
  }
  const findings = findingsOf(evidence)
  return { ...evidence, findings, warnings: warningsOf(evidence), verdict: findings.length === 0 ? 'pass' : 'finding' }
}
