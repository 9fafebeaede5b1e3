/**
 * Draws how reward rose in a run, from its rollouts, as an SVG that stands alone:
 *
 *     npx tsx scripts/smollm2/curve.ts runs/<id> curve.svg
 */
import { readdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { RolloutRecord } from '../../data/records/run.ts'
import { readJsonl } from '../../data/store/jsonl.ts'
import { element, margin, scale, svg, text, tickText, ticks } from '../../trainer/evaluation/report/svg.ts'

const formAndSchema = ['xml_count', 'strict_format', 'soft_format', 'json_valid', 'json_schema'] as const

interface Point {
  readonly reward: number
  /** The five components of form and schema, as a share of their maxima. */
  readonly form: number
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

const readStep = async (file: string): Promise<Point> => {
  const points: Point[] = []
  for await (const line of readJsonl(file)) {
    for (const score of RolloutRecord.parse(line).scores) {
      if (score.kind !== 'scored') continue
      const parts = formAndSchema.map((name) => score.components[name])
      const [got, most] = [parts.map((part) => part?.weighted ?? 0), parts.map((part) => part?.weight ?? 0)]
      points.push({ reward: score.total, form: mean(got) / mean(most) })
    }
  }
  return { reward: mean(points.map(({ reward }) => reward)), form: mean(points.map(({ form }) => form)) }
}

const [width, height] = [720, 320]
const plot = { left: margin.left, right: width - margin.right, top: margin.top + 28, bottom: height - margin.bottom }
const rewardMaximum = 5.6

const line = (values: readonly number[], most: number, dashed: boolean): string[] => {
  const x = scale([0, Math.max(1, values.length - 1)], [plot.left + 8, plot.right - 8])
  const y = scale([0, most], [plot.bottom, plot.top])
  const at = values.map((value, i) => `${x(i).toFixed(1)} ${y(value).toFixed(1)}`)
  const style = dashed ? 'stroke-dasharray:5 4' : ''
  return [
    element('path', { class: 'limit', style: `fill:none;${style}`, d: `M${at.join('L')}` }),
    ...values.map((value, i) => element('circle', { class: 'trained', cx: x(i), cy: y(value), r: 3 })),
  ]
}

const axes = (steps: number): string[] => {
  const x = scale([0, Math.max(1, steps - 1)], [plot.left + 8, plot.right - 8])
  const y = scale([0, rewardMaximum], [plot.bottom, plot.top])
  const middle = { 'text-anchor': 'middle', class: 'muted' }
  return [
    element('path', { class: 'axis', d: `M${plot.left} ${plot.top}V${plot.bottom}H${plot.right}` }),
    ...ticks(0, rewardMaximum).map((value) =>
      text(plot.left - 8, y(value) + 4, tickText(value), { 'text-anchor': 'end', class: 'muted' }),
    ),
    ...Array.from({ length: steps }, (_, i) => text(x(i), plot.bottom + 18, String(i), middle)),
    text((plot.left + plot.right) / 2, height - 8, 'step (version of the policy that sampled)', middle),
    text(
      plot.left,
      plot.top - 14,
      'solid: mean R of the completions (5.6 at most); dashed: form and schema, top = all',
    ),
  ]
}

const [run, target] = process.argv.slice(2)
if (run === undefined || target === undefined) {
  process.stderr.write('give a run and a file: npx tsx scripts/smollm2/curve.ts runs/<id> curve.svg\n')
  process.exitCode = 2
} else {
  const rollouts = join(run, 'rollouts')
  const files = (await readdir(rollouts)).filter((name) => name.endsWith('.jsonl')).toSorted()
  const points = await Promise.all(files.map((name) => readStep(join(rollouts, name))))
  const told = points.map(({ reward }, i) => `step ${i}: ${reward.toFixed(2)}`).join(', ')
  const words = { id: 'curve', title: `Reward in ${basename(run)}`, description: `Mean R by step. ${told}.` }
  const marks = [
    ...axes(points.length),
    ...line(
      points.map(({ form }) => form),
      1,
      true,
    ),
    ...line(
      points.map(({ reward }) => reward),
      rewardMaximum,
      false,
    ),
  ]
  await writeFile(target, `${svg(words, width, height, marks)}\n`)
  process.stdout.write(`| step | mean R | form and schema |\n|---|---|---|\n`)
  for (const [i, { reward, form }] of points.entries())
    process.stdout.write(`| ${i} | ${reward.toFixed(2)} | ${(100 * form).toFixed(0)} % |\n`)
}
