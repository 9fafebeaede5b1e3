import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { machine } from './machine.ts'
import { root, runPython } from './python-lines.ts'
import { type Curve, plot } from './scaling-plot.ts'

/**
 * CPU seconds of a step as each of its sizes grows, the others held. Writes the table into docs/speed.md, between its
 * markers, and the plot beside it. Usage: npm run bench -- scaling [model]
 */
interface Point {
  readonly sweep: string
  readonly value: number
  readonly cpu: number
  readonly parts: Readonly<Record<'sample' | 'update', number>>
  readonly peakMb: number
}

const names: Readonly<Record<string, string>> = {
  prompt: 'prompt tokens',
  completion: 'completion tokens',
  group: 'completions of a prompt',
  prompts: 'prompts of a step',
  rank: 'rank',
}
const markers = ['<!-- scaling -->', '<!-- /scaling -->'] as const

const model = process.argv[2] ?? 'data/tiny-base'
const { reports, code } = await runPython('scaling.py', ['--model', model])
if (code !== 0) throw new Error('scaling.py failed; see above')

const of = (sweep: string): Point[] =>
  (reports as Point[]).filter((point) => point.sweep === sweep).toSorted((a, b) => a.value - b.value)

/** How the cost grows over the last doubling: 1 is in proportion, below 1 less than that. */
const exponent = (points: readonly Point[]): string => {
  const [before, after] = points.slice(-2)
  if (before === undefined || after === undefined) return '-'
  return (Math.log(after.cpu / before.cpu) / Math.log(after.value / before.value)).toFixed(2)
}

const row = (sweep: string): string => {
  const points = of(sweep)
  const costs = points.map(({ value, cpu, parts }) => {
    const split = `${parts.sample.toFixed(2)} + ${parts.update.toFixed(2)}`
    return `${String(value)}: **${cpu.toFixed(2)}** (${split})`
  })
  return `| ${names[sweep] ?? sweep} | ${costs.join('<br>')} | ${exponent(points)} |`
}

const sweeps = Object.keys(names)
const alt = 'CPU seconds of a step against prompt tokens, completion tokens, completions, prompts and rank'
const lines = [
  `![${alt}](speed-scaling.svg)`,
  '',
  `CPU seconds of a step (sampling + update) of \`${model}\` on ${machine()}.`,
  '',
  '| grows | seconds | exponent at the end |',
  '|---|---|---|',
  ...sweeps.map(row),
]
const curves: Curve[] = sweeps.map((sweep) => ({
  title: names[sweep] ?? sweep,
  points: of(sweep).map(({ value, parts }) => ({ at: value, sample: parts.sample, update: parts.update })),
}))
await writeFile(join(root, 'docs/speed-scaling.svg'), plot(curves))

const document = join(root, 'docs/speed.md')
const text = await readFile(document, 'utf8')
const [start, end] = markers.map((marker) => text.indexOf(marker))
if (start === undefined || end === undefined || start < 0 || end < start)
  throw new Error(`docs/speed.md lacks ${markers.join(' and ')}`)
const kept = [text.slice(0, start + markers[0].length), ...lines, text.slice(end)].join('\n')
await writeFile(document, kept)
process.stdout.write(`${lines.join('\n')}\n`)
