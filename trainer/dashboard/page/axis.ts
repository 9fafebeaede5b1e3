import type { Series } from '../view.ts'
import { h } from './dom.ts'
import { chartSettings, type ChartSettings } from './page.ts'
import { go, withQuery, type Place } from './router.ts'

/** Where each step stands on the chosen axis. */
export const xOf = ({ steps, at, values }: Series, { x }: ChartSettings): number[] => {
  if (x === 'tokens') return steps.map((step, i) => values['num_tokens']?.[i] ?? step)
  const start = Date.parse(at[0] ?? '')
  return x === 'minutes' ? at.map((time) => (Date.parse(time) - start) / 60_000) : [...steps]
}

export const xNames = { step: 'step', tokens: 'tokens', minutes: 'minutes' } as const

const option = (value: string, text: string, chosen: string) => h('option', { value, selected: value === chosen }, text)

/** Settings of all charts of a page. */
export const chartControls = (place: Place): HTMLElement => {
  const settings = chartSettings(place)
  const set = (name: string) => (event: Event) => {
    const control = event.currentTarget
    if (control instanceof HTMLInputElement || control instanceof HTMLSelectElement)
      go(withQuery(place, { [name]: control.value }), true)
  }
  return h(
    'div',
    { class: 'controls' },
    h(
      'label',
      {},
      'smoothing ',
      h('input', { type: 'range', min: 0, max: 0.99, step: 0.01, value: settings.smoothing, oninput: set('smooth') }),
      h('output', {}, ` ${settings.smoothing.toFixed(2)}`),
    ),
    h(
      'label',
      {},
      'x ',
      h(
        'select',
        { onchange: set('x') },
        option('step', 'step', settings.x),
        option('tokens', 'tokens', settings.x),
        option('minutes', 'time', settings.x),
      ),
    ),
    h(
      'label',
      {},
      'y ',
      h(
        'select',
        { onchange: set('y') },
        option('whole', 'whole range', settings.isWhole ? 'whole' : 'data'),
        option('data', 'zoom to data', settings.isWhole ? 'whole' : 'data'),
      ),
    ),
    h(
      'label',
      {},
      'scale ',
      h(
        'select',
        { onchange: set('scale') },
        option('linear', 'linear', settings.isLog ? 'log' : 'linear'),
        option('log', 'logarithmic', settings.isLog ? 'log' : 'linear'),
      ),
    ),
  )
}
