import process from 'node:process'
import yargs, { type Argv } from 'yargs'
import { closest } from '../configs/edit-distance.ts'
import { exitCodes, PipelineError } from '../data/errors.ts'
import { packageVersion } from '../data/package-root.ts'
import type { Command, CommandContext } from './command.ts'
import { auditCommand } from './commands/audit.ts'
import { buildPoolCommand } from './commands/build-pool.ts'
import { doctorCommand } from './commands/doctor.ts'
import { dashboardCommand } from './commands/dashboard.ts'
import { evalCommand } from './commands/eval.ts'
import { exportCommand } from './commands/export.ts'
import { initCommand } from './commands/init.ts'
import { judgeCacheCommand } from './commands/judge-cache.ts'
import { pushCommand } from './commands/push.ts'
import { regressCommand } from './commands/regress.ts'
import { reportCommand } from './commands/report.ts'
import { runsCommand } from './commands/runs.ts'
import { schemaCommand } from './commands/schema.ts'
import { scoreCommand } from './commands/score.ts'
import { serveRewardsCommand } from './commands/serve-rewards.ts'
import { trainCommand } from './commands/train.ts'
import { listenForInterrupts, type Interrupts } from './interrupts.ts'
import { openOutput } from './output.ts'
import { reportError } from './report-error.ts'

/** All commands, in the order of the help. yargs gives each the arguments that its own options describe. */
export const commands = [
  trainCommand,
  evalCommand,
  buildPoolCommand,
  scoreCommand,
  auditCommand,
  judgeCacheCommand,
  regressCommand,
  reportCommand,
  exportCommand,
  pushCommand,
  dashboardCommand,
  serveRewardsCommand,
  runsCommand,
  doctorCommand,
  initCommand,
  schemaCommand,
] as unknown as readonly Command[]

/** The word that selects a command. */
export const wordOf = (command: Command): string => command.name.split(' ')[0] ?? ''

const epilogue = [
  'Exit codes: 0 done, 1 unexpected error, 2 usage or config, 3 preflight, 4 training failed,',
  '10 regression or audit finding, 129/130/143 stopped by a signal. Data goes to stdout, progress to stderr.',
].join('\n')

/** One below the other: in two columns a command line would be broken where a terminal has 80. */
const examplesOf = ({ examples }: Command): string =>
  ['Examples:', ...examples.map(([line, meaning]) => `  ${line}\n      ${meaning}`)].join('\n')

const unknownOption = (message: string, known: readonly string[]): string => {
  const word = /^Unknown (?:argument|command)s?: (\S+?),?(?:\s|$)/.exec(message)?.[1]
  if (word === undefined) return message
  const near = closest(word, known)
  return near === undefined ? message : `${message}; did you mean ${near}?`
}

/** What all commands share: strict options, one language, errors that are thrown and not printed. */
const openParser = (args: readonly string[]): Argv =>
  yargs([...args])
    .scriptName('drift-grpo')
    .usage('$0 <command>\n\nGRPO training of one small model that finds where a tool-using agent left its task.')
    .locale('en')
    .version(packageVersion())
    .option('color', {
      ...{ type: 'boolean', default: true, global: true },
      describe: 'colours on a terminal; --no-color, or NO_COLOR=1, does without',
    })
    .middleware(({ color }) => {
      // Read where colours are made: in this process and in those that it starts.
      if (!color) process.env['NO_COLOR'] = '1'
    })
    .strict()
    .demandCommand(1, 'which command?')
    .wrap(Math.min(110, process.stdout.columns || 80))
    .epilogue(epilogue)
    .exitProcess(false)
    .fail((message, error) => {
      if (message) throw usageError(unknownOption(message, commands.map(wordOf)), '')
      throw error
    })

/** Where a command line is run, and what it writes to. */
type Surroundings = Pick<CommandContext, 'out' | 'cwd' | 'env'>

const ownProcess = (): Surroundings => ({ out: openOutput(), cwd: process.cwd(), env: process.env })

/** Whatever breaks after a second signal, and whatever ends by the first one, is the stop that the user was told of. */
const isStop = (error: unknown, interrupts: Interrupts | undefined): boolean =>
  interrupts?.abort.aborted === true || (interrupts?.finish.aborted === true && error === interrupts.finish.reason)

/** Runs command lines, turns whatever they throw into text, and returns the exit code. */
export const runCli = async (args: readonly string[], surroundings = ownProcess()): Promise<number> => {
  const { out, env } = surroundings
  let interrupts: Interrupts | undefined
  let startedTraining = false
  let exitCode: number = exitCodes.ok
  const context: CommandContext = {
    ...surroundings,
    interrupts: (onFirst) => (interrupts ??= listenForInterrupts(out.progress, onFirst)),
    trainingStarted: () => {
      startedTraining = true
    },
  }

  const add = (parser: Argv, command: Command): Argv =>
    parser.command(
      command.name,
      command.summary,
      (builder) => {
        for (const [name, positional] of Object.entries(command.positionals ?? {})) builder.positional(name, positional)
        const known = [...Object.keys(command.options), 'help', 'version', 'color']
        const described = builder.options(command.options).epilogue(examplesOf(command))
        return described.fail((message, error) => {
          if (message) throw usageError(unknownOption(message, known), wordOf(command))
          throw error
        })
      },
      async (parsed) => {
        exitCode = await command.run(parsed, context)
      },
    )

  const parser = openParser(args)

  try {
    await commands.reduce(add, parser).parseAsync()
    return interrupts?.exitCode() ?? exitCode
  } catch (error) {
    const report = reportError(error, { debug: env['DRIFT_GRPO_DEBUG'] === '1', startedTraining })
    const signalled = interrupts?.exitCode()
    if (!isStop(error, interrupts)) out.progress(report.text)
    return signalled ?? report.exitCode
  } finally {
    interrupts?.dispose()
  }
}

const usageError = (message: string, command: string): PipelineError =>
  new PipelineError('usage', message, { remedy: `See drift-grpo ${command === '' ? '' : `${command} `}--help.` })
