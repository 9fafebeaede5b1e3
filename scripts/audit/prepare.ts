import type { Config } from '../../configs/schema.ts'
import type { AuditReport } from '../../data/records/audit.ts'
import type { AuditRequest } from '../../judge/audit/audit.ts'
import type { Question } from '../../judge/audit/questions.ts'
import { readTwinSuites, shortened } from '../../judge/audit/twins.ts'
import type { JudgeSurroundings } from '../../judge/create.ts'
import { openFreshJudge } from './fresh-judge.ts'
import { builtInCompletions, withFeatures } from './samples.ts'

export interface Preparation {
  readonly config: Pick<Config, 'judge' | 'rewards'>
  readonly form: AuditReport['form']
  /** Completions for the score distribution; null: those of the twins. */
  readonly completions: { readonly from: string; readonly questions: readonly Question[] } | null
  readonly repeats: number
  readonly surroundings: JudgeSurroundings
  readonly say: (text: string) => void
}

const progressEvery = 25

/** Everything that an audit needs, with nothing asked yet. */
export const prepareAudit = (preparation: Preparation): AuditRequest => {
  const { config, form, completions, repeats, surroundings, say } = preparation
  const all = readTwinSuites()
  const suites = form === 'short' ? all.map(shortened) : all
  const { from, questions } = completions ?? {
    from: 'the plain and the right ones of the twins',
    questions: builtInCompletions(suites),
  }
  let answered = 0
  return {
    ...{ form, suites, repeats, completionsFrom: from },
    samples: withFeatures(questions, config.rewards),
    openJudge: () => openFreshJudge(config.judge, surroundings, say),
    signal: surroundings.signal,
    onAnswer: () => {
      answered += 1
      if (answered % progressEvery === 0) say(`${answered} questions answered`)
    },
  }
}
