import { h } from './dom.ts'

/** What those hear who do not see the page change. */
export const said = h('p', { class: 'hidden', role: 'status', 'aria-live': 'polite' })

export const say = (text: string): void => {
  said.textContent = text
}
