import { h } from './dom.ts'
import { nodeIds } from './nodes.ts'
import { addressOf, go, readPlace, withQuery, type PageName } from './router.ts'

const pageKeys: Readonly<Record<string, PageName | 'runs'>> = {
  r: 'runs',
  o: 'overview',
  n: 'nodes',
  c: 'components',
  b: 'rollouts',
  e: 'evaluation',
  j: 'judge',
}

const help: readonly (readonly [keys: string, meaning: string])[] = [
  ['g then r o n c b e j', 'runs, overview, nodes, components, rollouts, evaluation, judge'],
  ['1 to 5', 'choose a node'],
  ['/', 'search'],
  ['j k', 'next, previous completion of a list'],
  ['[ ]', 'same prompt at the step before, after'],
  ['n p', 'next, previous completion of a group'],
  ['d', 'differences on and off'],
  ['b', 'differences from the base model, or from another sample'],
  ['?', 'these keys'],
  ['Esc', 'close'],
]

const showHelp = (): void => {
  const dialog = h(
    'dialog',
    { 'aria-label': 'Keys' },
    h('h2', {}, 'Keys'),
    h(
      'dl',
      { class: 'keys' },
      help.flatMap(([keys, meaning]) => [h('dt', {}, h('kbd', {}, keys)), h('dd', {}, meaning)]),
    ),
    h('form', { method: 'dialog' }, h('button', {}, 'Close')),
  )
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}

/** Elements of a page can say which key presses them: `data-press="]"`. */
const press = (key: string): boolean => {
  const element = [...document.querySelectorAll<HTMLElement>('[data-press]')].find(
    (one) => one.dataset['press'] === key,
  )
  element?.click()
  return element !== undefined
}

const moveInList = (by: number): void => {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row] a')]
  const at = rows.findIndex((row) => row === document.activeElement)
  rows[Math.max(0, Math.min(rows.length - 1, at + by))]?.focus()
}

const openPage = (name: PageName | 'runs'): void => {
  const { run } = readPlace(location)
  if (name === 'runs' || run === null) go('/')
  else go(addressOf(run, name))
}

const actions: Readonly<Record<string, () => void>> = {
  '?': showHelp,
  j: () => moveInList(1),
  k: () => moveInList(-1),
  '/': () => document.querySelector<HTMLInputElement>('input[type=search]')?.focus(),
}

const handle = (key: string): boolean => {
  const node = nodeIds[Number(key) - 1]
  if (node !== undefined) {
    go(withQuery(readPlace(location), { node, page: null }), true)
    return true
  }
  if (press(key)) return true
  actions[key]?.()
  return key in actions
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && ['INPUT', 'SELECT', 'TEXTAREA', 'DIALOG'].includes(target.nodeName)

export const listenForKeys = (): void => {
  let isLeading = false
  addEventListener('keydown', (event) => {
    const { key } = event
    if (key === 'Escape' && event.target instanceof HTMLElement) {
      // Leaves a field of search, which the browser would empty.
      if (event.target instanceof HTMLInputElement) event.preventDefault()
      event.target.blur()
    }
    if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return
    if (isLeading) {
      isLeading = false
      const page = pageKeys[key]
      if (page !== undefined) openPage(page)
      return
    }
    isLeading = key === 'g'
    if (!isLeading && handle(key)) event.preventDefault()
  })
}
