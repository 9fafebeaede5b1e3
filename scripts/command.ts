import type { InferredOptionTypes, Options, PositionalOptions } from 'yargs'
import type { Interrupts } from './interrupts.ts'
import type { Output } from './output.ts'

/** What the outside gives to a command. */
export interface CommandContext {
  readonly out: Output
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /**
   * From now on Ctrl-C stops in two stages; `onFirst` says what the first one does. A command that does not ask is simply
   * ended by it.
   */
  readonly interrupts: (onFirst: string) => Interrupts
  /** From now on a failure is one of training, not of preflight. */
  readonly trainingStarted: () => void
}

type OptionTable = Readonly<Record<string, Options>>

/** One command of the multi-command binary: everything that help prints, and what it does. */
export interface Command<O extends OptionTable = OptionTable> {
  /** Name and positionals, as yargs writes them: `runs [id]`. */
  readonly name: string
  readonly summary: string
  readonly positionals?: Readonly<Record<string, PositionalOptions>>
  readonly options: O
  /** Pairs of a command line and what it does. */
  readonly examples: readonly (readonly [commandLine: string, meaning: string])[]
  /** Returns the exit code. Errors are thrown; they become text and a code in one place. */
  readonly run: (args: InferredOptionTypes<O>, context: CommandContext) => Promise<number>
}

/** Infers the argument types of `run` from `options`. */
export const defineCommand = <const O extends OptionTable>(command: Command<O>): Command<O> => command
