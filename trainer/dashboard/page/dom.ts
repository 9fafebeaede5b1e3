/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/** What can stand between the tags of an element. Text stays text: nothing here ever reads markup. */
export type Child = Node | string | number | null | undefined | false | readonly Child[]

type Listener<E extends Event> = (event: E) => void
type Value = string | number | boolean | null | undefined

export interface Props {
  readonly [name: string]: Value | Listener<MouseEvent> | Listener<Event> | Listener<KeyboardEvent> | undefined
}

const namespace = 'http://www.w3.org/2000/svg'

const append = (parent: Element, children: readonly Child[]): void => {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue
    if (Array.isArray(child)) append(parent, child as readonly Child[])
    else if (child instanceof Node) parent.append(child)
    else if (typeof child === 'string' || typeof child === 'number') parent.append(`${child}`)
  }
}

const fill = <E extends Element>(element: E, props: Props, children: readonly Child[]): E => {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue
    if (typeof value === 'function') (element as unknown as Record<string, unknown>)[name] = value
    else element.setAttribute(name, value === true ? '' : String(value))
  }
  append(element, children)
  return element
}

/** Makes an HTML element. A function is a handler, `onclick: () => …`. */
export const h = <K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] => fill(document.createElement(tag), props, children)

/** Makes an SVG element. */
export const s = (tag: string, props: Props = {}, ...children: readonly Child[]): SVGElement =>
  fill(document.createElementNS(namespace, tag), props, children)

/** Handlers are properties: they are kept apart from attributes, as the policy of the page wants it. */
const handlers: readonly string[] = [
  'onclick',
  'onchange',
  'oninput',
  'onsubmit',
  'onkeydown',
  'onpointermove',
  'onpointerleave',
  'ontoggle',
]

const syncAttributes = (old: Element, fresh: Element): void => {
  for (const { name } of [...old.attributes]) {
    // The reader opened it.
    if (name === 'open' && old.nodeName === 'DETAILS') continue
    if (!fresh.hasAttribute(name)) old.removeAttribute(name)
  }
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value)
  const to: { [name: string]: unknown } = old as never
  const from: { [name: string]: unknown } = fresh as never
  for (const name of handlers) if (to[name] !== from[name]) to[name] = from[name]
}

const syncControl = (old: Element, fresh: Element): void => {
  if (old === document.activeElement) return
  if (old instanceof HTMLInputElement && fresh instanceof HTMLInputElement) {
    if (old.value !== fresh.value) old.value = fresh.value
    if (old.checked !== fresh.checked) old.checked = fresh.checked
  }
  if (old instanceof HTMLSelectElement && fresh instanceof HTMLSelectElement) old.value = fresh.value
}

const isSame = (old: Node, fresh: Node): boolean =>
  old.nodeName === fresh.nodeName &&
  (!(old instanceof Element) ||
    !(fresh instanceof Element) ||
    old.getAttribute('data-key') === fresh.getAttribute('data-key'))

/** Makes a tree on the page equal to a fresh one, and keeps what the reader did: focus, scroll, open details. */
export const morph = (old: Node, fresh: Node): void => {
  if (!isSame(old, fresh)) {
    old.parentNode?.replaceChild(fresh, old)
    return
  }
  if (!(old instanceof Element) || !(fresh instanceof Element)) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue
    return
  }
  syncAttributes(old, fresh)
  const wanted = [...fresh.childNodes]
  for (const [i, child] of wanted.entries()) {
    const present = old.childNodes[i]
    if (present === undefined) old.append(child)
    else morph(present, child)
  }
  while (old.childNodes.length > wanted.length) old.lastChild?.remove()
  syncControl(old, fresh)
}
