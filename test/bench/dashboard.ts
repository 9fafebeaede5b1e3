import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { cp, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { table } from '../../scripts/table.ts'
import { installedAssets } from '../../trainer/dashboard/assets.ts'
import { pageNames } from '../../trainer/dashboard/page/router.ts'
import type { RolloutPage } from '../../trainer/dashboard/view.ts'
import { indexFolder } from '../../trainer/dashboard/rollouts/segment-store.ts'
import { firstLoad } from '../support/first-load.ts'
import { hundredThousand, makeLargeRun } from '../support/large-run.ts'

/**
 * A run of 100,000 completions in the dashboard: how long until its first page is there, cold (nothing was ever read of it)
 * and warm (an index lies beside it), how long pages of all kinds of filters take, what it holds in memory, and how much a
 * browser loads. Usage: npm run bench -- dashboard [steps]
 */
const steps = Number(process.argv[2] ?? hundredThousand.steps)
const shape = { ...hundredThousand, steps }
const completions = steps * shape.groupsPerStep * shape.samples

const say = (text: string): void => void process.stdout.write(`${text}\n`)
const ms = (value: number): string => `${value.toFixed(0)} ms`

const started: ChildProcess[] = []
const start = async (directory: string): Promise<{ child: ChildProcess; url: string }> => {
  const child = fork(fileURLToPath(new URL('dashboard-server.ts', import.meta.url)), [directory])
  started.push(child)
  const [url] = (await once(child, 'message')) as [string]
  return { child, url }
}
const stop = async (child: ChildProcess): Promise<void> => {
  const exited = once(child, 'exit')
  child.disconnect()
  await exited
}

/** Memory in use, and the most that ever was, in MiB; null where the system does not say. */
const memoryOf = ({ pid }: ChildProcess): { now: number; most: number } | null => {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8')
    const of = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) / 1024
    return { now: of('VmRSS'), most: of('VmHWM') }
  } catch {
    return null
  }
}

/** Processor time of the server so far, in milliseconds: what other programs on the machine do does not count. */
const processorMs = ({ pid }: ChildProcess): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  // Fields 14 and 15 of the line, in ticks of 10 ms.
  return (Number(fields[11]) + Number(fields[12])) * 10
}

const timed = async (url: string): Promise<{ took: number; body: unknown }> => {
  const began = performance.now()
  const response = await fetch(url)
  const body: unknown = await response.json()
  if (!response.ok) throw new Error(`${url}: ${response.status}`)
  return { took: performance.now() - began, body }
}

const filters = [
  '',
  'page=999',
  'page=1999',
  'sort=best',
  'sort=worst&page=1500',
  'sort=advantage',
  'sort=longest&page=777',
  'node=n3',
  'node=n3&sort=worst&page=100',
  'from=100&to=200',
  'least=2&most=3&page=20',
  'component=judge&below=0.2&sort=newest',
  'finish=length',
  'state=dead&page=300',
  'error=any',
  'text=rollback',
  'text=rollback&page=500',
  'text=E&sort=best&page=1000',
  'text=' + encodeURIComponent('calendar 77'),
  'text=notthere',
  'regex=on&text=' + encodeURIComponent('"is_aligned": "y".*\\b77'),
  'regex=on&text=' + encodeURIComponent('(.*)*\\u0000'),
  'text=escalate%20human&node=n5&least=3&sort=worst',
]

type Times = Map<string, number[]>

const pageThrough = async (url: string, times: Times): Promise<void> => {
  for (const filter of filters) {
    const { took } = await timed(`${url}/api/runs/large/rollouts?${filter}`)
    times.set(filter, [...(times.get(filter) ?? []), took])
  }
}

const opening = ['', '/nodes', '/components', '/series?keys=reward,reward_std,kl,reward/*', '/rollouts']

const open = async (url: string): Promise<number> => {
  let sum = 0
  const parts: string[] = []
  for (const path of opening) {
    const { took } = await timed(`${url}/api/runs/large${path}`)
    sum += took
    parts.push(`${path === '' ? '/overview' : path.replace(/\?.*/, '')} ${took.toFixed(0)}`)
  }
  say(`  first answers, ms: ${parts.join(', ')}`)
  return sum
}

/** Until the index is whole; pages are asked for meanwhile. */
const whileReading = async (url: string, times: Times): Promise<number> => {
  const began = performance.now()
  for (;;) {
    const { body } = await timed(`${url}/api/runs/large/rollouts`)
    const { progress } = body as RolloutPage
    if (progress.filesDone === progress.files) return performance.now() - began
    await pageThrough(url, times)
    await setTimeout(200)
  }
}

const report = (title: string, times: Times, processor: number): void => {
  const all = [...times.values()].flat().toSorted((a, b) => a - b)
  const at = (share: number): number => all[Math.min(all.length - 1, Math.floor(all.length * share))] ?? 0
  const each = `${ms(processor / all.length)} of processor time each`
  say(`  ${title}: ${all.length} pages, median ${ms(at(0.5))}, 95 % ${ms(at(0.95))}, slowest ${ms(at(1))}; ${each}`)
}

const visit = async (directory: string, title: string): Promise<Times> => {
  say(`\n${title}`)
  const { child, url } = await start(directory)
  const began = processorMs(child)
  const opened = await open(url)
  say(`  these one after the other: ${ms(opened)}, ${ms(processorMs(child) - began)} of processor time`)
  const meanwhile: Times = new Map()
  const whole = await whileReading(url, meanwhile)
  say(`  every step read after ${ms(whole)}, ${ms(processorMs(child) - began)} of processor time since the start`)
  if (meanwhile.size > 0)
    report('pages while it reads (time for reading included)', meanwhile, processorMs(child) - began)
  const ready = processorMs(child)
  const first: Times = new Map()
  await pageThrough(url, first)
  report('each filter for the first time', first, processorMs(child) - ready)
  const times: Times = new Map()
  const seen = processorMs(child)
  for (let round = 0; round < 3; round++) await pageThrough(url, times)
  report('again', times, processorMs(child) - seen)
  const memory = memoryOf(child)
  if (memory !== null) say(`  memory ${memory.now.toFixed(0)} MiB, at most ${memory.most.toFixed(0)} MiB`)
  await stop(child)
  return first
}

/** Bytes that a browser loads before the largest page is drawn, gzip. */
const largestFirstLoad = async (): Promise<number> => {
  const pages = await Promise.all(['runs', ...pageNames].map((page) => firstLoad(page, installedAssets())))
  return Math.max(...pages.map((sizes) => [...sizes.values()].reduce((sum, size) => sum + size, 0)))
}

const sizeOf = async (folder: string): Promise<number> => {
  const names = await readdir(folder)
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`
const directory = await mkdtemp(join(tmpdir(), 'drift-grpo-bench-'))
process.once('exit', () => {
  for (const child of started) child.kill()
  rmSync(directory, { recursive: true, force: true })
})

const run = await makeLargeRun(directory, 'large', shape)
say(
  `${completions.toLocaleString('en')} completions in ${steps} steps, rollouts of ${mib(await sizeOf(join(run, 'rollouts')))}`,
)
say(`${cpus().length} cores of ${cpus()[0]?.model ?? 'an unknown processor'}, Node ${process.versions.node}`)

const cold = await visit(directory, 'cold: nothing was read of this run before')
say(`  index beside the run: ${mib(await sizeOf(join(run, indexFolder)))}`)
const warm = await visit(directory, 'warm: its index lies beside it')
const copies = await mkdtemp(join(tmpdir(), 'drift-grpo-bench-'))
process.once('exit', () => rmSync(copies, { recursive: true, force: true }))
await cp(run, join(copies, 'large'), { recursive: true })
await rm(run, { recursive: true })
await visit(copies, 'copied: the same with its index, other times of files')

say(`\nfirst load: ${((await largestFirstLoad()) / 1000).toFixed(1)} kB compressed at most\n`)
say(
  table(
    ['filter', 'cold, ms', 'warm, ms'],
    filters.map((filter) => [
      filter === '' ? '(none)' : decodeURIComponent(filter),
      Math.round(cold.get(filter)?.[0] ?? 0),
      Math.round(warm.get(filter)?.[0] ?? 0),
    ]),
  ),
)
