import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { table } from '../../scripts/table.ts'
import { machine } from './machine.ts'
import { root, runPython } from './python-lines.ts'

/**
 * Whether sampling and update still cost what they did, beside transformers in the same run: ratios of CPU seconds
 * against those kept in baselines/step.json, with a tolerance. Fails when one has grown by more than that.
 * Usage: npm run bench -- check [--keep]     with --keep the ratios become the new baseline
 */
const file = join(root, 'test/bench/baselines/step.json')
const tolerance = 1.3

interface Report {
  readonly ratios: Readonly<Record<'sample' | 'update', number>>
}

const model = 'data/tiny-base'
const { reports, code } = await runPython('check.py', ['--model', model])
const [report] = reports as Report[]
if (report === undefined || code !== 0) throw new Error('check.py did not report; see above')

if (process.argv.includes('--keep')) {
  const kept = { machine: machine(), model, tolerance, ...report }
  await writeFile(file, `${JSON.stringify(kept, null, 2)}\n`)
  process.stdout.write(`written to ${file}\n`)
} else {
  const baseline = JSON.parse(await readFile(file, 'utf8')) as Report
  const rows = (['sample', 'update'] as const).map((name) => {
    const [now, before] = [report.ratios[name], baseline.ratios[name]]
    const isWorse = now > before * tolerance
    if (isWorse) process.exitCode = 1
    return [name, now.toFixed(2), before.toFixed(2), isWorse ? 'dearer than it was' : 'as before']
  })
  process.stdout.write(`${table(['', 'beside transformers', 'baseline', ''], rows)}\n`)
}
