import type { GroupDetail, RolloutRow } from '../view.ts'
import { ask, ProblemError } from './api.ts'
import { h, type Child } from './dom.ts'
import { go } from './router.ts'
import { say } from './say.ts'
import { notice } from './ui.ts'

type Label = NonNullable<RolloutRow['label']>

const marks = { hack: '⚑ hack', fine: '✓ fine' } as const satisfies Record<Label, string>
export const markNames = Object.keys(marks) as Label[]

/** What a reviewer said of a completion, as a list and a card show it. */
export const markOf = ({ label }: Pick<RolloutRow, 'label'>): Child =>
  label === null ? null : h('span', { class: `badge mark-${label}` }, marks[label])

const problemOf = (error: unknown): HTMLElement =>
  error instanceof ProblemError
    ? notice('Not marked:', error.message, error.remedy === null ? '' : ` ${error.remedy}`)
    : notice('Not marked:', 'The server does not answer.')

/** Two buttons with which a reviewer says what a completion is; the one that is pressed takes it back. */
export const markButtons = (
  run: string,
  { record, labels, takesLabels }: GroupDetail,
  sample: number,
  group: number,
): Child => {
  const label = labels[sample] ?? null
  if (!takesLabels)
    return [
      markOf({ label }),
      h('p', { class: 'note' }, 'The directory of this run cannot be written to: no marks are taken.'),
    ]
  const name = { attempt: record.attempt, step: record.group.step, group, sample }
  const press = (mark: Label) => async (event: Event) => {
    const place = event.currentTarget instanceof Element ? event.currentTarget.parentElement : null
    try {
      await ask([run, 'labels'], '', { ...name, label: label === mark ? 'none' : mark })
      say(label === mark ? `sample ${sample}: mark taken back` : `sample ${sample}: ${mark}`)
      go(location.pathname + location.search + location.hash, true)
    } catch (error) {
      const told = problemOf(error)
      told.setAttribute('role', 'alert')
      place?.querySelector('.notice')?.remove()
      place?.append(told)
    }
  }
  return h(
    'div',
    { class: 'marks', role: 'group', 'aria-label': `Mark of sample ${sample}` },
    markNames.map((mark) =>
      h(
        'button',
        {
          ...{ type: 'button', class: 'small pin', 'aria-pressed': label === mark ? 'true' : 'false' },
          onclick: (event: MouseEvent) => void press(mark)(event),
        },
        mark,
      ),
    ),
  )
}
