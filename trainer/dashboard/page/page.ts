import type { Place } from './router.ts'

/** How a page is made: it asks for its data, then draws them; both again whenever the run changes. */
export interface Page {
  readonly draw: (place: Place) => Promise<HTMLElement>
  /** Changes of a run that this page shows. */
  readonly shows: readonly string[]
}

/** Settings of all charts, from the address. */
export interface ChartSettings {
  readonly smoothing: number
  readonly x: 'step' | 'tokens' | 'minutes' | 'clock'
  /** The whole range that a reward can have, or what the data need. */
  readonly isWhole: boolean
  /** Logarithmic, where the values allow it. */
  readonly isLog: boolean
}

export const chartSettings = ({ query }: Place): ChartSettings => {
  const smoothing = Number(query.get('smooth') ?? '0.6')
  const x = query.get('x')
  return {
    smoothing: smoothing >= 0 && smoothing <= 0.99 ? smoothing : 0.6,
    x: x === 'tokens' || x === 'minutes' || x === 'clock' ? x : 'step',
    isWhole: query.get('y') !== 'data',
    isLog: query.get('scale') === 'log',
  }
}
