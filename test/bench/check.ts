import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { table } from '../../scripts/table.ts'
import { machine } from './machine.ts'
import { root, runPython } from './python-lines.ts'

/**
 * Whether sampling and update still cost what they did, beside transformers in the same run: ratios of CPU seconds
 * against those kept in baselines/step.json, with a tolerance. A ratio that is beyond it is measured once more: what was
 * chance does not come twice. The last line is `N passed, N failed`.
 * Usage: npm run bench -- check [--keep]     with --keep the ratios become the new baseline
 */
const file = join(root, 'test/bench/baselines/step.json')
const tolerance = 1.5

const names = ['sample', 'update'] as const
type Ratios = Readonly<Record<(typeof names)[number], number>>
interface Report {
  readonly ratios: Ratios
}

const model = 'data/tiny-base'

const measure = async (): Promise<Report> => {
  const { reports, code } = await runPython('check.py', ['--model', model])
  const [report] = reports as Report[]
  if (report === undefined || code !== 0) throw new Error('check.py did not report; see above')
  return report
}

const keep = async (): Promise<void> => {
  const kept = { machine: machine(), model, ...(await measure()) }
  await writeFile(file, `${JSON.stringify(kept, null, 2)}\n`)
  process.stdout.write(`written to ${file}\n`)
}

const compare = async (): Promise<void> => {
  const before = (JSON.parse(await readFile(file, 'utf8')) as Report).ratios
  const isDearer = (ratios: Ratios, name: (typeof names)[number]): boolean => ratios[name] > before[name] * tolerance
  let { ratios: now } = await measure()
  if (names.some((name) => isDearer(now, name))) {
    const { ratios: again } = await measure()
    now = { sample: Math.min(now.sample, again.sample), update: Math.min(now.update, again.update) }
  }
  const rows = names.map((name) => [
    ...[name, now[name].toFixed(2), before[name].toFixed(2)],
    isDearer(now, name) ? 'dearer than it was' : 'as before',
  ])
  const failed = names.filter((name) => isDearer(now, name)).length
  process.stdout.write(`${table(['', 'beside transformers', 'baseline', ''], rows)}\n`)
  process.stdout.write(`${names.length - failed} passed, ${failed} failed\n`)
  process.exitCode = failed === 0 ? 0 : 1
}

await (process.argv.includes('--keep') ? keep() : compare())
