import type { Series } from '../view.ts'
import { choice } from './choice.ts'
import { h } from './dom.ts'
import { chartSettings, type ChartSettings } from './page.ts'
import { go, withQuery, type Place } from './router.ts'
import { clockName } from './x-axis.ts'

/** Where each step stands on the chosen axis. */
export const xOf = ({ steps, at, values }: Series, { x }: ChartSettings): number[] => {
  if (x === 'tokens') return steps.map((step, i) => values['num_tokens']?.[i] ?? step)
  if (x === 'step') return [...steps]
  const times = at.map((time) => Date.parse(time))
  return x === 'clock' ? times : times.map((time) => (time - (times[0] ?? 0)) / 60_000)
}

/** Where other steps of the same run stand on it: one without metrics at the place of the step before. */
export const placeSteps = (series: Series, settings: ChartSettings, steps: readonly number[]): number[] => {
  if (settings.x === 'step') return [...steps]
  const x = xOf(series, settings)
  const places = new Map(series.steps.map((step, i) => [step, x[i] ?? 0]))
  let last = x[0] ?? 0
  return steps.map((step) => (last = places.get(step) ?? last))
}

export const xNames = { step: 'step', tokens: 'tokens', minutes: 'minutes', clock: clockName } as const

/** Settings of all charts of a page. */
export const chartControls = (place: Place): HTMLElement => {
  const settings = chartSettings(place)
  const smooth = (event: Event): void => {
    if (event.currentTarget instanceof HTMLInputElement)
      go(withQuery(place, { smooth: event.currentTarget.value }), true)
  }
  return h(
    'div',
    { class: 'controls' },
    h(
      'label',
      {},
      'smoothing ',
      h('input', { type: 'range', min: 0, max: 0.99, step: 0.01, value: settings.smoothing, oninput: smooth }),
      h('output', {}, ` ${settings.smoothing.toFixed(2)}`),
    ),
    choice(
      place,
      'x',
      'x',
      [
        ['step', 'step'],
        ['tokens', 'tokens'],
        ['minutes', 'minutes since the start'],
        ['clock', 'time of day'],
      ],
      settings.x,
    ),
    choice(
      place,
      'y',
      'y',
      [
        ['whole', 'whole range'],
        ['data', 'zoom to data'],
      ],
      settings.isWhole ? 'whole' : 'data',
    ),
    choice(
      place,
      'scale',
      'scale',
      [
        ['linear', 'linear'],
        ['log', 'logarithmic'],
      ],
      settings.isLog ? 'log' : 'linear',
    ),
  )
}
