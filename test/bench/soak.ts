import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { table } from '../../scripts/table.ts'
import { soak, type Holding } from '../support/soak.ts'

/**
 * What a day of training leaves behind: `npm run bench -- soak [steps]` trains a stub model (20,000 steps unless told) and
 * shows, at each quarter, memory after a collection, open descriptors, and what the run directory holds.
 */
const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1)

const row = ({ step, heapBytes, rssBytes, descriptors, files, boundedBytes, logBytes }: Holding): string[] => [
  String(step),
  mebibytes(heapBytes),
  mebibytes(rssBytes),
  String(descriptors),
  Object.entries(files)
    .map(([part, count]) => `${part} ${count}`)
    .join(', '),
  mebibytes(boundedBytes),
  mebibytes(logBytes),
]

const steps = Number(process.argv[2] ?? 20_000)
const runs = mkdtempSync(join(tmpdir(), 'drift-grpo-soak-'))
try {
  const started = performance.now()
  const seen = await soak(runs, steps)
  const seconds = (performance.now() - started) / 1000
  const head = ['step', 'heap MiB', 'resident MiB', 'descriptors', 'files', 'their MiB', 'logs MiB']
  process.stdout.write(`${table(head, seen.map(row))}\n`)
  const cpu = process.cpuUsage()
  process.stdout.write(
    `${steps} steps in ${seconds.toFixed(0)} s, ${((cpu.user + cpu.system) / 1e3 / steps).toFixed(1)} ms of CPU a step; ${cpus().length} cores of ${cpus()[0]?.model ?? 'unknown'}\n`,
  )
} finally {
  rmSync(runs, { recursive: true, force: true })
}
