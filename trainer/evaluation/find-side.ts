import { existsSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { PipelineError } from '../../data/errors.ts'
import { foldersOf } from '../../data/store/folders.ts'
import { adapterHash, adapterWeights } from './identity.ts'
import { mainEvaluations, readSummary, type SideName } from './load.ts'

/** An evaluation that somebody named, and the side that was asked for; null: whichever fits. */
export interface NamedEvaluation {
  readonly directory: string
  readonly side: SideName | null
}

export interface Surroundings {
  readonly cwd: string
  /** Directory of the runs. */
  readonly runsDir: string
  /** Name below eval/, where a run has several. */
  readonly evaluation: string | undefined
}

const isEvaluation = (path: string): boolean => existsSync(join(path, 'summary.json'))
const isRun = (path: string): boolean => existsSync(join(path, 'config.resolved.json'))
const isAdapter = (path: string): boolean => existsSync(join(path, adapterWeights))

const evaluationsOf = async (run: string): Promise<string[]> =>
  (await foldersOf(join(run, 'eval'))).filter((name) => isEvaluation(join(run, 'eval', name)))

/** Of several one of the main ones; evaluations during training are not asked. */
const ofRun = async (run: string, wanted: string | undefined): Promise<string> => {
  const names = await evaluationsOf(run)
  const chosen =
    wanted ?? mainEvaluations.find((name) => names.includes(name)) ?? (names.length === 1 ? names[0] : undefined)
  if (chosen !== undefined && names.includes(chosen)) return join(run, 'eval', chosen)
  const id = basename(run)
  if (names.length === 0) {
    throw new PipelineError('usage', `run ${id} has no evaluation on record`, {
      remedy: `Make one: drift-grpo eval --run ${run}`,
    })
  }
  const what = wanted === undefined ? 'has several evaluations' : `has no evaluation ${wanted}`
  throw new PipelineError('usage', `run ${id} ${what}: ${names.join(', ')}`, {
    remedy: `Name one: --evaluation ${names[0] ?? ''}`,
  })
}

interface Search {
  /** Directories of the evaluations of the wanted weights. */
  readonly found: readonly string[]
  /** Those that could not be read, as an older version may have written them: they may be the wanted ones. */
  readonly unreadable: readonly string[]
}

const evaluationsOfWeights = async (sha256: string, runs: Iterable<string>): Promise<Search> => {
  const [found, unreadable]: [string[], string[]] = [[], []]
  for (const run of runs) {
    for (const name of await evaluationsOf(run)) {
      const directory = join(run, 'eval', name)
      const summary = await readSummary(directory).catch((error: unknown) => {
        if (error instanceof PipelineError) return null
        throw error
      })
      if (summary === null) unreadable.push(directory)
      else if (summary.adapter?.sha256 === sha256) found.push(directory)
    }
  }
  return { found, unreadable }
}

/** An adapter stands for the evaluation of its weights: in the run that it lies in, or in the directory of the runs. */
const ofAdapter = async (adapter: string, { runsDir, evaluation }: Surroundings): Promise<string> => {
  const own = dirname(dirname(adapter))
  const others = (await foldersOf(runsDir)).map((name) => join(runsDir, name))
  const runs = new Set([...(isRun(own) ? [own] : []), ...others])
  const { found: all, unreadable } = await evaluationsOfWeights(await adapterHash(adapter), runs)
  const found = all.filter((path) => evaluation === undefined || basename(path) === evaluation)
  const best = mainEvaluations.flatMap((name) => found.filter((path) => basename(path) === name))
  const chosen = best[0] ?? (found.length === 1 ? found[0] : undefined)
  if (chosen !== undefined) return chosen
  if (found.length > 0) {
    throw new PipelineError('usage', `adapter ${adapter} has several evaluations: ${found.join(', ')}`, {
      remedy: 'Name one of them instead of the adapter.',
    })
  }
  const unread = unreadable.length === 0 ? '' : `; could not be read: ${unreadable.join(', ')}`
  const looked = `looked in ${own} and ${runsDir}${unread}`
  throw new PipelineError('usage', `adapter ${adapter} has no evaluation on record (${looked})`, {
    remedy: `Evaluate the checkpoint that it belongs to: drift-grpo eval --run ${isRun(own) ? own : 'RUN'} --checkpoint STEP`,
  })
}

const splitSide = (text: string): { readonly path: string; readonly side: SideName | null } => {
  const found = /^(.+)@(base|trained)$/.exec(text)
  return found === null
    ? { path: text, side: null }
    : { path: found[1] ?? '', side: found[2] === 'base' ? 'base' : 'trained' }
}

/**
 * Finds what a user named: the directory of an evaluation, a run (id or path), or an adapter that was evaluated. `@base` or
 * `@trained` at the end chooses one of the two models. Throws a usage error that says what to run when there is none.
 */
export const findEvaluation = async (text: string, surroundings: Surroundings): Promise<NamedEvaluation> => {
  const { path, side } = splitSide(text)
  const { cwd, runsDir, evaluation } = surroundings
  const isId = !isAbsolute(path) && basename(path) === path
  const candidates = [resolve(cwd, path), ...(isId ? [join(runsDir, path)] : [])]
  for (const candidate of candidates) {
    if (isRun(candidate)) return { directory: await ofRun(candidate, evaluation), side }
    if (isEvaluation(candidate)) return { directory: candidate, side }
    if (isAdapter(candidate)) return { directory: await ofAdapter(candidate, surroundings), side: side ?? 'trained' }
  }
  throw new PipelineError('usage', `${path} is neither a run, nor an evaluation, nor an adapter`, {
    remedy: `Looked for: ${candidates.join(', ')}. drift-grpo runs lists the runs.`,
  })
}
