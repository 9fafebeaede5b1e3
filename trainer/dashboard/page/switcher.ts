import type { RunNames } from '../view.ts'
import { h, morph } from './dom.ts'
import { addressOf, go, readPlace, type Place } from './router.ts'

/** What is of one run only, and means nothing in another. */
const ownOfRun = new Set(['page', 'sample', 'diff'])

/** The same page of another run with what was chosen on it; a group or an evaluation is of one run. */
const inRun = ({ page, query }: Place, run: string): string =>
  addressOf(run, page, [], Object.fromEntries([...query].filter(([name]) => !ownOfRun.has(name))))

let known: readonly string[] = []
let askedAt = -Infinity
/** A new run is seen after so long. */
const everyMs = 10_000

const onchange = ({ currentTarget }: Event): void => {
  if (currentTarget instanceof HTMLSelectElement) go(inRun(readPlace(location), currentTarget.value))
}

const listOf = (run: string): HTMLSelectElement => {
  const names = [...new Set([run, ...known])].toSorted(new Intl.Collator('en', { numeric: true }).compare)
  return h(
    'select',
    { class: 'run-name', 'aria-label': 'Run', title: run, onchange },
    names.map((name) => h('option', { value: name, selected: name === run }, name)),
  )
}

/** Fills the list with the runs that there are now; without an answer those that are known stay. */
const refresh = async (): Promise<void> => {
  if (performance.now() - askedAt < everyMs) return
  askedAt = performance.now()
  const response = await fetch('/api/run-names').catch(() => null)
  if (response?.ok !== true) return
  known = ((await response.json()) as RunNames).runs
  const list = document.querySelector<HTMLSelectElement>('select.run-name')
  if (list !== null) morph(list, listOf(list.value))
}

/** The run that is looked at, and the way to the same page of the others. */
export const runSwitcher = (run: string): HTMLElement => {
  void refresh()
  return listOf(run)
}
