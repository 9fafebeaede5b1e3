import { setImmediate } from 'node:timers/promises'
import { createContext, Script } from 'node:vm'

/** Texts of so many bytes are searched at a stretch, in a few milliseconds; then requests come first. */
const stretchBytes = 128 * 2 ** 10

/** An expression that needs longer for a stretch is stopped: some need longer than anybody lives. */
const limitMs = 60

/** A stretch may take long because the machine is busy: it gets a second time, and no third one. */
const mostOverruns = 2

/** Case is ignored; `^` and `$` are ends of lines. Throws a SyntaxError. */
export const compileExpression = (source: string): RegExp => new RegExp(source, 'im')

/** An expression that takes too long on these texts. */
export class SlowExpressionError extends Error {
  constructor(options: ErrorOptions) {
    super('this expression takes too long on these texts; repetitions inside of repetitions do that', options)
    this.name = 'SlowExpressionError'
  }
}

interface Task {
  expression: RegExp | null
  texts: readonly string[]
}
const task: Task = { expression: null, texts: [] }
const context = createContext(task)
// No words of a request are run here: they are in the expression, and a script of its own can be stopped while it matches.
const script = new Script('texts.map((text) => expression.test(text))')

const matches = async (expression: RegExp, texts: readonly string[]): Promise<readonly boolean[]> => {
  for (let overruns = 1; ; overruns++) {
    try {
      Object.assign(task, { expression, texts })
      return script.runInContext(context, { timeout: limitMs }) as boolean[]
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
      if (overruns === mostOverruns) throw new SlowExpressionError({ cause: error })
      await setImmediate()
    }
  }
}

/** Calls back with every row whose text the expression matches. Throws a SlowExpressionError. */
export const matchInTexts = async (
  bytes: Buffer,
  expression: RegExp,
  lengths: (row: number) => number,
  rows: number,
  found: (row: number) => void,
): Promise<void> => {
  let end = 0
  for (let row = 0; row < rows;) {
    const [first, start] = [row, end]
    const texts: string[] = []
    while (row < rows && end - start < stretchBytes) {
      const from = end
      end += lengths(row++)
      texts.push(bytes.toString('utf8', from, end))
    }
    for (const [i, isMatch] of (await matches(expression, texts)).entries()) if (isMatch) found(first + i)
    await setImmediate()
  }
}
