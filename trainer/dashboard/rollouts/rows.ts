import { finishReasons } from './columns.ts'
import type { RolloutIndex } from './index-run.ts'
import { parseLight } from './scan.ts'
import type { LightRecord } from './columns.ts'
import type { RolloutRow } from '../view.ts'

const excerptLength = 400

const orNull = (value: number | undefined): number | null => (value === undefined || Number.isNaN(value) ? null : value)

/** Digits that single precision has. */
const rounded = (value: number | null): number | null => (value === null ? null : Number(value.toPrecision(7)))

const judged = (verdict: LightRecord['verdicts'][number] | undefined): RolloutRow['judge'] => {
  const { score, reason } = (verdict ?? {}) as { readonly score?: unknown; readonly reason?: unknown }
  if (typeof score !== 'number') return null
  return { score, reason: typeof reason === 'string' ? reason.slice(0, excerptLength) : '' }
}

/** Rows of the index as a list shows them; the texts are read from the files. */
export const readRows = async (index: RolloutIndex, rows: Iterable<number>): Promise<RolloutRow[]> => {
  const { columns } = index
  const groups = new Map<string, Promise<LightRecord>>()
  const groupOf = (row: number): Promise<LightRecord> => {
    const key = `${columns.of.file.data[row]}:${columns.of.offset.data[row]}`
    const known = groups.get(key)
    if (known !== undefined) return known
    const reading = index.line(row).then((line) => parseLight(line).value as LightRecord)
    groups.set(key, reading)
    return reading
  }
  return Promise.all(
    [...rows].map(async (row): Promise<RolloutRow> => {
      const sample = columns.of.sample.data[row] ?? 0
      const record = await groupOf(row)
      return {
        step: columns.of.step.data[row] ?? 0,
        attempt: columns.of.attempt.data[row] ?? 0,
        group: columns.of.groupInFile.data[row] ?? 0,
        sample,
        node: columns.nodeOf(row),
        promptId: columns.prompts[columns.of.prompt.data[row] ?? 0] ?? '',
        failedBy: columns.failedBy(row),
        total: rounded(orNull(columns.of.total.data[row])),
        advantage: rounded(orNull(columns.of.advantage.data[row])),
        tokens: columns.of.tokens.data[row] ?? 0,
        finishReason: finishReasons[columns.of.finish.data[row] ?? 0] ?? 'stop',
        dead: columns.of.dead.data[row] === 1,
        components: Object.fromEntries(
          columns.components.flatMap((name, i) => {
            const value = rounded(orNull(columns.weighted[i]?.data[row]))
            return value === null ? [] : [[name, value]]
          }),
        ),
        excerpt: (record.group.completions[sample]?.text ?? '').slice(0, excerptLength),
        judge: judged(record.verdicts[sample]),
        label: null,
      }
    }),
  )
}
