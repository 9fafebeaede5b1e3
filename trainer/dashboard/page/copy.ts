import { h } from './dom.ts'
import { say } from './say.ts'

/** Where the browser gives no clipboard, as without encryption it does not, the reader copies it. */
const offer = (text: string): void => {
  const field = h('textarea', { readonly: true, rows: 8, cols: 60, 'aria-label': 'To be copied' }, text)
  const dialog = h(
    'dialog',
    { 'aria-label': 'Copy' },
    h('p', {}, 'This browser lets no page write to the clipboard here: copy it with your keys.'),
    field,
    h('form', { method: 'dialog' }, h('button', {}, 'Close')),
  )
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
  field.select()
}

const isWritten = async (text: string): Promise<boolean> => {
  // Undefined, whatever its type says, where the page did not come over a connection that the browser trusts.
  const clipboard = navigator.clipboard as Clipboard | undefined
  return (
    (await clipboard?.writeText(text).then(
      () => true,
      () => false,
    )) === true
  )
}

const shownMs = 2000

/** Puts a text into the clipboard, and says so on itself. */
export const copyButton = (name: string, what: string, text: () => string): HTMLElement =>
  h(
    'button',
    {
      ...{ type: 'button', class: 'small', 'aria-label': `${name}: ${what}`, title: what },
      onclick: ({ currentTarget }: MouseEvent) => {
        const [button, copied] = [currentTarget as HTMLButtonElement, text()]
        void isWritten(copied).then((isDone) => {
          if (!isDone) return offer(copied)
          say(`${name}: copied`)
          button.dataset['done'] = ''
          return setTimeout(() => delete button.dataset['done'], shownMs)
        })
      },
    },
    name,
  )
