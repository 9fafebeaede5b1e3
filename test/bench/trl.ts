import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { quantile } from '../../data/statistics.ts'
import { decimal, table } from '../../scripts/table.ts'
import { machine } from './machine.ts'
import { root } from './python-lines.ts'

/**
 * One GRPO step, this project beside TRL's GRPOTrainer: sampling, reference and update of the same model, prompts,
 * lengths and LoRA. Each side is a process of its own; they take turns, so that whatever else the machine does hits both.
 * TRL gets the number of rows a micro-batch with which it uses the fewest CPU seconds, and no gradient checkpointing.
 * Usage: npm run bench -- trl [--model DIR] [--prompt-tokens 300,600,1200] [--prompts 4] [--rounds 3] [--rows 2,4,8]
 */
const python = join(root, '.venv/trl/bin/python')
const scripts = join(root, 'trainer/python/bench')

const { values } = parseArgs({
  options: {
    model: { type: 'string', default: 'data/tiny-base' },
    'prompt-tokens': { type: 'string', default: '300,600,1200' },
    prompts: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    rows: { type: 'string', default: '2,4,8' },
    threads: { type: 'string', default: 'auto' },
    output: { type: 'string' },
  },
})

interface Step {
  readonly wall: number
  readonly cpu: number
  readonly parts: Readonly<Record<string, number>>
  readonly peakMb: number
}

interface Side {
  readonly ready: Readonly<Record<string, unknown>>
  readonly step: () => Promise<Step>
  readonly end: () => Promise<void>
}

/** Starts one side and waits until its model is loaded. */
const start = async (script: string, promptTokens: number, extra: readonly string[]): Promise<Side> => {
  const work = ['--model', values.model, '--prompt-tokens', String(promptTokens), '--prompts', values.prompts]
  const child: ChildProcess = spawn(python, [join(scripts, script), ...work, '--threads', values.threads, ...extra], {
    cwd: root,
    env: { ...process.env, PYTHONPATH: join(root, 'trainer/python'), HF_HUB_OFFLINE: '1' },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]()
  /** The next line that is a report; libraries print lines of their own. */
  const next = async <T>(): Promise<T> => {
    for (;;) {
      const { value, done } = await lines.next()
      if (done === true) throw new Error(`${script} ended without an answer; run it by hand to see why`)
      if (value.startsWith('{"')) return JSON.parse(value) as T
    }
  }
  return {
    ready: await next(),
    step: () => {
      child.stdin?.write('step\n')
      return next<Step>()
    },
    end: async () => {
      const exited = once(child, 'exit')
      child.stdin?.end()
      await exited
    },
  }
}

const median = (steps: readonly Step[], of: (step: Step) => number): number =>
  quantile(
    steps.map(of).toSorted((a, b) => a - b),
    0.5,
  )

const summary = (steps: readonly Step[]) => ({
  wall: median(steps, (step) => step.wall),
  cpu: median(steps, (step) => step.cpu),
  peakMb: Math.max(...steps.map((step) => step.peakMb)),
  parts: Object.fromEntries(
    Object.keys(steps[0]?.parts ?? {}).map((name) => [name, median(steps, (step) => step.parts[name] ?? 0)]),
  ),
})

/** CPU seconds of TRL's second step with so many completions a micro-batch. */
const tryRows = async (promptTokens: number, rows: string): Promise<number> => {
  const side = await start('trl_step.py', promptTokens, ['--rows', rows])
  await side.step()
  const { cpu } = await side.step()
  await side.end()
  return cpu
}

const bestRows = async (promptTokens: number): Promise<string> => {
  const candidates = values.rows.split(',')
  if (candidates.length === 1) return values.rows
  const costs: [cost: number, rows: string][] = []
  for (const rows of candidates) costs.push([await tryRows(promptTokens, rows), rows])
  return costs.toSorted(([a], [b]) => a - b)[0]?.[1] ?? values.rows
}

/** Both sides by turns; the first step of each is a warm-up and not counted. */
const compare = async (promptTokens: number) => {
  const rows = await bestRows(promptTokens)
  const sides = [
    await start('own_step.py', promptTokens, []),
    await start('trl_step.py', promptTokens, ['--rows', rows]),
  ]
  const steps: Step[][] = sides.map(() => [])
  for (let round = 0; round <= Number(values.rounds); round += 1)
    for (const [i, side] of sides.entries()) {
      const step = await side.step()
      if (round > 0) steps[i]?.push(step)
    }
  await Promise.all(sides.map((side) => side.end()))
  const [own, trl] = steps.map(summary)
  if (own === undefined || trl === undefined) throw new Error('--rounds has to be at least 1')
  return { promptTokens, rows: Number(rows), software: sides.map((side) => side.ready), own, trl }
}

type Compared = Awaited<ReturnType<typeof compare>>

const line = ({ promptTokens, rows, own, trl }: Compared): (string | number)[] => [
  promptTokens,
  rows,
  decimal(own.cpu),
  decimal(trl.cpu),
  decimal(own.cpu / trl.cpu),
  decimal(own.wall / trl.wall),
  Math.round(own.peakMb),
  Math.round(trl.peakMb),
  decimal(own.peakMb / trl.peakMb),
]

const header = ['prompt', 'TRL rows', 'cpu s', 'TRL', 'ratio', 'wall ratio', 'MB', 'TRL', 'ratio']

const parts = ({ promptTokens, own, trl }: Compared): string =>
  [['this project', own.parts] as const, ['TRL', trl.parts] as const]
    .map(([side, seconds]) => {
      const named = Object.entries(seconds).map(([name, value]) => `${name} ${decimal(value)}`)
      return `${String(promptTokens)} ${side}: ${named.join(', ')}`
    })
    .join('\n')

const keep = async (results: readonly Compared[]): Promise<string> => {
  const name = values.model.replace(/\/+$/, '').split('/').at(-1) ?? 'model'
  const file = values.output ?? join(root, 'test/bench/baselines', `trl-${name}.json`)
  const { prompts, rounds } = values
  const settings = {
    group: 4,
    completionTokens: 96,
    prompts: Number(prompts),
    rounds: Number(rounds),
    beta: 0.04,
    rank: 16,
  }
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `${JSON.stringify({ machine: machine(), model: name, settings, results }, null, 2)}\n`)
  return file
}

if (existsSync(python)) {
  const results: Compared[] = []
  for (const tokens of values['prompt-tokens'].split(',')) {
    results.push(await compare(Number(tokens)))
    process.stderr.write(`${tokens} prompt tokens: done\n`)
  }
  process.stdout.write(
    `${table(header, results.map(line))}\n\nCPU seconds of parts:\n${results.map(parts).join('\n')}\n`,
  )
  process.stdout.write(`\nwritten to ${await keep(results)}\n`)
} else {
  process.stderr.write('TRL is not installed: run node scripts/setup-trl.mjs\n')
  process.exitCode = 3
}
