import type { GroupDetail } from '../view.ts'
import { h, type Child } from './dom.ts'
import { number } from './format.ts'
import { addressOf, go, type Place } from './router.ts'
import { sparkline } from './ui.ts'

/** The same prompt's group at another step, with what the reader chose about samples and signs. */
const addressAt = ({ run, query }: Place, { step, group }: GroupDetail['places'][number]): string =>
  addressOf(run ?? '', 'rollouts', [step, group], {
    ...{ sample: query.get('sample'), spaces: query.get('spaces') },
    diff: query.get('diff') === 'off' ? 'off' : null,
  })

const slider = (place: Place, places: GroupDetail['places'], at: number): HTMLElement => {
  const textOf = (i: number): string => `step ${places[i]?.step}, mean R ${number(places[i]?.mean)}`
  const output = h('output', {}, textOf(at))
  const chosen = ({ currentTarget }: Event): number =>
    currentTarget instanceof HTMLInputElement ? Number(currentTarget.value) : at
  return h(
    'label',
    { class: 'same-prompt' },
    'this prompt over the steps',
    h('input', {
      ...{ type: 'range', min: 0, max: places.length - 1, value: at, 'aria-valuetext': textOf(at) },
      oninput: (event: Event) => {
        // The output that is on the page: this one may have been laid over another.
        const shown = event.currentTarget instanceof Element ? event.currentTarget.parentElement : null
        shown?.querySelector('output')?.replaceChildren(textOf(chosen(event)))
      },
      onchange: (event: Event) => {
        const next = places[chosen(event)]
        if (next !== undefined) go(addressAt(place, next), true)
      },
    }),
    output,
  )
}

/** The way to the groups of the same prompt at other steps. */
export const samePrompt = (place: Place, { places, record }: GroupDetail, group: number): Child => {
  const { step, node } = record.group
  const at = places.findIndex((one) => one.step === step && one.group === group)
  if (places.length < 2 || at === -1)
    return h('p', { class: 'note' }, 'This prompt was sampled at one step only, as far as is on record.')
  const link = (i: number, text: string, key: string): Child => {
    const other = places[i]
    // Something stands there in any case: what moves in a bar would lose its focus.
    return other === undefined
      ? h('span', {})
      : h('a', { href: addressAt(place, other), 'data-press': key }, text.replace('#', String(other.step)))
  }
  return h(
    'div',
    { class: 'pager' },
    link(at - 1, '← step #', '['),
    slider(place, places, at),
    sparkline(
      places.map(({ mean }) => mean),
      node,
    ),
    link(at + 1, 'step # →', ']'),
  )
}
