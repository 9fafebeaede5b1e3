import type { Cell } from './chart-frame.ts'
import { clockMark, clockText, clockTicks } from './clock.ts'
import { compact } from './format.ts'
import { ticks } from './scale.ts'

/** How the places on a horizontal axis are marked and told. */
export interface XAxis {
  readonly ticks: (low: number, high: number, wanted: number) => number[]
  readonly mark: (value: number, marks: readonly number[]) => string
  readonly text: (value: number) => string
  /** In tables and files. */
  readonly cell: (value: number) => Cell
}

const plain: XAxis = { ticks, mark: (value) => compact(value), text: compact, cell: (value) => value }
const clock: XAxis = { ticks: clockTicks, mark: clockMark, text: clockText, cell: clockText }

/** Values under this name are milliseconds since 1970. */
export const clockName = 'time, UTC'
export const xAxisOf = ({ xName }: { readonly xName: string }): XAxis => (xName === clockName ? clock : plain)
