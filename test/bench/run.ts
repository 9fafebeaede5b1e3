import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { table } from '../../scripts/table.ts'

interface Bench {
  readonly file: string
  readonly measures: string
  /** Arguments as its usage shows them; what is not in brackets has to be given. */
  readonly usage: string
  /** Part of a plain `npm run bench`: it needs no argument and takes about a minute. */
  readonly isUsual: boolean
}

const benches: Readonly<Record<string, Bench>> = {
  service: { file: 'service.ts', measures: 'the reward service over HTTP', usage: '[seconds]', isUsual: true },
  rewards: { file: 'rewards.ts', measures: 'the nine components, typical and huge', usage: '[seconds]', isUsual: true },
  dashboard: { file: 'dashboard.ts', measures: 'a run of 100,000 completions', usage: '[steps]', isUsual: true },
  'judge-cache': { file: 'judge-cache.ts', measures: 'the cache of verdicts', usage: '[records]', isUsual: false },
  million: { file: 'million.ts', measures: 'invariants of the reward', usage: '[count] [seed]', isUsual: false },
  'false-alarms': {
    file: 'false-alarms.ts',
    measures: 'how often the gate fails equal runs',
    usage: 'EVALUATION [deals]',
    isUsual: false,
  },
  soak: { file: 'soak.ts', measures: 'a day of training with a stub model', usage: '[steps]', isUsual: false },
  trl: { file: 'trl.ts', measures: 'one GRPO step beside TRL', usage: '[--model DIR] [--prompts 4]', isUsual: false },
  check: { file: 'check.ts', measures: 'whether a step costs what it did', usage: '[--keep]', isUsual: false },
  scaling: { file: 'scaling.ts', measures: 'a step as its sizes grow', usage: '[model]', isUsual: false },
  gpu: { file: 'gpu.ts', measures: 'recipes on a GPU beside the expectation', usage: '', isUsual: false },
}

/** Each in a process of its own: none sees the memory or the compiled code of another. */
const run = async ({ file }: Bench, args: readonly string[]): Promise<number> => {
  const path = fileURLToPath(new URL(file, import.meta.url))
  const child = spawn(process.execPath, [...process.execArgv, path, ...args], { stdio: 'inherit' })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

const listed = (): string =>
  table(
    ['name', 'arguments', 'measures'],
    Object.entries(benches).map(([name, { usage, measures }]) => [name, usage, measures]),
  )

/** `npm run bench -- NAME [arguments]`; without a name the usual ones, one after the other. */
const main = async ([name, ...args]: readonly string[]): Promise<number> => {
  if (name === undefined) {
    const codes: number[] = []
    for (const [each, bench] of Object.entries(benches)) {
      if (!bench.isUsual) continue
      process.stdout.write(`\n${each}: ${bench.measures}\n\n`)
      codes.push(await run(bench, []))
    }
    return Math.max(...codes)
  }
  const bench = benches[name]
  if (bench !== undefined) return run(bench, args)
  process.stderr.write(`there is no bench ${name}\n\n${listed()}\n`)
  return 2
}

process.exitCode = await main(process.argv.slice(2))
