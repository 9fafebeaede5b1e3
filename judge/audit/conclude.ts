import type { AuditReport, AuditSuite } from '../../data/records/audit.ts'

/** Largest share of questions that may stay without an answer. */
const mostUnanswered = 0.1
/** Beyond these the scores deserve a look; they are no proof of a fault. */
const noticeable = { noise: 0.1, length: 0.5, agreement: 0.3, oneScore: 0.9 }

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`

const suiteFinding = ({ name, fooled, answered, interval, rule }: AuditSuite): string => {
  const [low, high] = interval ?? [0, 1]
  return `${name}: ${fooled} of ${answered} twins (${percent(low)} to ${percent(high)}) break the rule: ${rule}`
}

type Evidence = Omit<AuditReport, 'findings' | 'warnings' | 'verdict'>

/** What makes a judge unfit to be trained on. */
export const findingsOf = ({ suites, questions, unanswered }: Evidence): string[] => [
  ...suites.filter(({ finding }) => finding).map(suiteFinding),
  ...suites
    .filter(({ answered, twins }) => answered < twins / 2)
    .map(({ name, answered, twins }) => `${name}: only ${answered} of ${twins} twins were answered`),
  ...(unanswered > mostUnanswered * questions ? [`${unanswered} of ${questions} questions were not answered`] : []),
]

const singleTwins = ({ suites }: Evidence): string[] =>
  suites
    .filter(({ finding, fooled }) => !finding && fooled > 0)
    .map(
      ({ name, fooled, answered, examples }) =>
        `${name}: fooled by ${fooled} of ${answered} twins, which chance may explain: ${examples.map(({ id }) => id).join(', ')}`,
    )

/** Each thing that is worth a look, in words; none where all is well. */
const aboutScores: readonly ((evidence: Evidence) => readonly string[])[] = [
  ({ correlations }) =>
    (correlations['length']?.interval?.[0] ?? 0) > noticeable.length
      ? ['scores rise with the length of the completion']
      : [],
  ({ noise }) =>
    (noise?.sd ?? 0) > noticeable.noise
      ? [`the same question gets other scores: deviation ${noise?.sd.toFixed(2)}`]
      : [],
  ({ all }) =>
    (all?.agreement?.interval?.[1] ?? 1) < noticeable.agreement
      ? ['scores hardly agree with the judge that grades from targets']
      : [],
  ({ nodes }) =>
    Object.entries(nodes).flatMap(([node, { n, atZero, atHalf, atOne }]) => {
      const most = Math.max(atZero, atHalf, atOne)
      return n >= 10 && most >= noticeable.oneScore ? [`${node}: ${percent(most)} of the scores are the same`] : []
    }),
]

/** What a person should look at, without it being a reason to refuse the judge. */
export const warningsOf = (evidence: Evidence): string[] => [
  ...singleTwins(evidence),
  ...aboutScores.flatMap((look) => look(evidence)),
]
