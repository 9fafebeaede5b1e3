import { h, type Child } from './dom.ts'
import { go, withQuery, type Place } from './router.ts'

/** A field for words or a regular expression; what is in it becomes `text` of the address. */
export const textSearch = (place: Place, title: string): Child => {
  const isExpression = place.query.get('regex') === 'on'
  const onchange = ({ currentTarget }: Event): void => {
    if (currentTarget instanceof HTMLInputElement) go(withQuery(place, { text: currentTarget.value, page: null }), true)
  }
  return [
    h('label', {}, title, h('input', { type: 'search', value: place.query.get('text') ?? '', onchange })),
    h(
      'label',
      { class: 'check' },
      h('input', {
        ...{ type: 'checkbox', checked: isExpression },
        onchange: () => go(withQuery(place, { regex: isExpression ? null : 'on', page: null }), true),
      }),
      'regular expression',
    ),
  ]
}
