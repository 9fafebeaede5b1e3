import { isRecord } from '../../data/json.ts'

/** What a run is called elsewhere. */
export interface RunLabel {
  readonly name: string
  readonly attempt: number
  /** Milliseconds since 1970. */
  readonly startedAt: number
  /** The config, flat: `grpo.beta` and so on. */
  readonly params: Readonly<Record<string, string>>
}

/** Flattens a config; lists and null are shown as JSON. */
export const flatParams = (value: unknown, prefix = ''): Record<string, string> =>
  isRecord(value)
    ? Object.assign(
        {},
        ...Object.entries(value).map(([key, part]) => flatParams(part, prefix === '' ? key : `${prefix}.${key}`)),
      )
    : { [prefix]: typeof value === 'string' ? value : JSON.stringify(value) }
