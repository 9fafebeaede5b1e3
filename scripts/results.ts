/**
 * Prints the README's results as Markdown from the evaluations of several runs (one per seed):
 *
 *     npx tsx scripts/results.ts runs/<id> [runs/<id> …]
 */
import { cpus, totalmem } from 'node:os'
import { basename, join } from 'node:path'
import { readFile } from 'node:fs/promises'
import { nodeContracts, nodeIds } from '../data/records/node.ts'
import { StepMetrics } from '../data/records/metrics.ts'
import { EvaluationSummary, RunMeta, type EvaluationRow } from '../data/records/run.ts'
import { readJsonl } from '../data/store/jsonl.ts'

interface RunResults {
  readonly id: string
  readonly seed: number
  readonly summary: EvaluationSummary
  readonly steps: readonly StepMetrics[]
}

const readRun = async (directory: string): Promise<RunResults> => {
  const parse = async (...path: string[]): Promise<unknown> =>
    JSON.parse(await readFile(join(directory, ...path), 'utf8'))
  const meta = RunMeta.parse(await parse('meta.json'))
  const summary = EvaluationSummary.parse(await parse('eval', 'final', 'summary.json'))
  const steps: StepMetrics[] = []
  for await (const line of readJsonl(join(directory, 'metrics.jsonl'))) steps.push(StepMetrics.parse(line))
  return { id: basename(directory), seed: meta.seed, summary, steps }
}

const fixed = (value: number | null): string => (value === null ? '–' : value.toFixed(2))

/** `before → after`, one for each run, separated by ` · `. */
const change = (rows: readonly EvaluationRow[], of: (row: EvaluationRow['base']) => number | null): string =>
  rows.map((row) => `${fixed(of(row.base))} → ${fixed(of(row.trained))}`).join(' · ')

const line = (label: string, rows: readonly EvaluationRow[]): string => {
  const improved = rows.map((row) => `${row.improved} of ${row.improved + row.equal + row.worse}`).join(' · ')
  return `| ${label} | ${change(rows, (row) => row.reward)} | ${change(rows, (row) => row.exactlyRight)} | ${improved} |`
}

const sumOf = (run: RunResults, key: string): number => run.steps.reduce((sum, step) => sum + Number(step[key] ?? 0), 0)

const timeLine = (run: RunResults): string => {
  const parts = ['sample', 'score', 'update', 'publish', 'other'].map((part) => ({
    part,
    seconds: sumOf(run, `time/${part}`),
  }))
  const total = parts.reduce((sum, { seconds }) => sum + seconds, 0)
  const shares = parts.map(({ part, seconds }) => `${part} ${((100 * seconds) / total).toFixed(1)} %`).join(', ')
  return `- seed ${run.seed} (${run.id}): ${run.steps.length} steps in ${total.toFixed(0)} s (${shares}); evaluation ${run.summary.seconds.toFixed(0)} s`
}

const runs = (await Promise.all(process.argv.slice(2).map(readRun))).toSorted((a, b) => a.seed - b.seed)
const nodeRows = nodeIds.flatMap((node) => {
  const rows = runs.flatMap(({ summary }) => summary.nodes[node] ?? [])
  return rows.length === 0 ? [] : [line(`${node} ${nodeContracts[node].tag}`, rows)]
})
const table = [
  `Seeds ${runs.map(({ seed }) => seed).join(' · ')}; ${cpus().length} cores of ${cpus()[0]?.model.trim() ?? 'an unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB.`,
  '',
  '| | mean R, base → trained | exactly right, base → trained | prompts improved |',
  '|---|---|---|---|',
  line(
    'all',
    runs.map(({ summary }) => summary.all),
  ),
  ...nodeRows,
  '',
  ...runs.map(timeLine),
]
process.stdout.write(`${table.join('\n')}\n`)
