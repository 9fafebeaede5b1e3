import process from 'node:process'
import { table } from '../../scripts/table.ts'
import { runPython } from './python-lines.ts'

/**
 * The update and vLLM's sampling at the sizes of the GPU recipes, random weights, beside what the roofline of an A100
 * lets expect. Without a GPU it prints the expectation and ends with exit code 3. Usage: npm run bench -- gpu
 */
interface Figures {
  readonly device?: string
  readonly updateSeconds: number
  readonly updateTokensPerSecond: number
  readonly mfu: number
  readonly decodeTokensPerSecond: number | null
  readonly memoryGiB: number
}

interface Report {
  readonly model: string
  readonly expected?: Figures
  readonly measured?: Figures
}

const line = (model: string, source: string, figures: Figures): (string | number)[] => [
  model,
  source,
  figures.updateSeconds.toFixed(2),
  Math.round(figures.updateTokensPerSecond),
  figures.mfu.toFixed(2),
  figures.decodeTokensPerSecond === null ? 'no vLLM' : Math.round(figures.decodeTokensPerSecond),
  figures.memoryGiB.toFixed(1),
]

const { reports, code } = await runPython('gpu.py', [])
const rows = (reports as Report[]).flatMap(({ model, expected, measured }) => [
  ...(expected === undefined ? [] : [line(model, 'expected of an A100 80 GB', expected)]),
  ...(measured === undefined ? [] : [line(model, measured.device ?? 'this GPU', measured)]),
])
process.stdout.write(
  `${table(['model', '', 'update s', 'row tokens/s', 'MFU', 'sampled tokens/s', 'update GiB'], rows)}\n`,
)
if (code === 3) process.stdout.write('\nThere is no GPU here: nothing was measured.\n')
process.exitCode = code
