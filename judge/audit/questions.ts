import { JudgeError, type Judge, type JudgeRequest } from '../judge.ts'

/** One completion that is put to the judge. */
export type Question = Pick<JudgeRequest, 'prompt' | 'completion'>

/** What came of it: a score, or the reason why there is none. */
export type Answer = { readonly score: number } | { readonly failure: string }

const keyOf = ({ prompt, completion }: Question): string => `${prompt.id} ${completion}`

/** The answers of one round, in which each distinct question is asked once. */
export interface Round {
  /** Null: no answer, or not asked in this round. */
  readonly scoreOf: (question: Question) => number | null
  readonly answers: readonly Answer[]
}

/** Each question once, in the order of their first occurrence. */
export const distinct = (questions: readonly Question[]): Question[] => [
  ...new Map(questions.map((question) => [keyOf(question), question])).values(),
]

const askOne = async (judge: Judge, question: Question, signal: AbortSignal | undefined): Promise<Answer> => {
  try {
    return { score: (await judge.judge({ ...question, signal })).score }
  } catch (error) {
    // A question without an answer is a result of the audit; anything else ends it.
    if (error instanceof JudgeError && signal?.aborted !== true) return { failure: error.message }
    throw error
  }
}

export interface AskOptions {
  readonly signal?: AbortSignal | undefined
  readonly onAnswer?: (() => void) | undefined
}

/** Asks every distinct question side by side; the judge has its own limit. */
export const askRound = async (
  judge: Judge,
  questions: readonly Question[],
  { signal, onAnswer }: AskOptions,
): Promise<Round> => {
  const asked = distinct(questions)
  const answers = await Promise.all(
    asked.map(async (question) => {
      const answer = await askOne(judge, question, signal)
      onAnswer?.()
      return answer
    }),
  )
  const byKey = new Map(asked.map((question, i) => [keyOf(question), answers[i]]))
  return {
    answers,
    scoreOf: (question) => {
      const answer = byKey.get(keyOf(question))
      return answer !== undefined && 'score' in answer ? answer.score : null
    },
  }
}
