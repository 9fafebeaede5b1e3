import { h } from './dom.ts'
import { go, withQuery, type Place } from './router.ts'

/** A list to choose one value from, by its value and text; what is chosen becomes `key` of the address. */
export const choice = (
  place: Place,
  label: string,
  key: string,
  options: readonly (readonly [value: string, text: string])[],
  chosen: string,
): HTMLElement => {
  const onchange = (event: Event): void => {
    if (event.currentTarget instanceof HTMLSelectElement)
      go(withQuery(place, { [key]: event.currentTarget.value }), true)
  }
  const list = options.map(([value, text]) => h('option', { value, selected: value === chosen }, text))
  return h('label', {}, `${label} `, h('select', { onchange }, list))
}
