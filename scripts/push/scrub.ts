import { isAbsolute, win32 } from 'node:path'

const loopback = new Set(['localhost', '127.0.0.1', '[::1]', 'huggingface.co'])

/** Names of servers say how a network is built, and what stands before or after an address may be a key. */
const publicUrl = (text: string): string => {
  if (!URL.canParse(text)) return 'http://elsewhere'
  const { protocol, host, hostname, pathname } = new URL(text)
  return `${protocol}//${loopback.has(hostname) ? host : 'elsewhere'}${pathname === '/' ? '' : pathname}`
}

const lastPart = (path: string): string => path.split(/[\\/]+/).findLast((part) => part !== '') ?? ''

const leavesHere = (text: string): boolean =>
  isAbsolute(text) || win32.isAbsolute(text) || /^(?:~|\.\.)[\\/]/.test(text)

const url = /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]+/gi
/** A path from a root, or from home, inside other text: not the slash of `and/or`, nor those of an address. */
const rootedPath = /(?<![\w.:/\\-])(?:~|\.\.|[A-Za-z]:)?(?:[\\/][^\s\\/"'`,;:=()[\]{}]+)+[\\/]?/g

/** A text without what only this machine has: of directories the last part stays, of servers the kind of address. */
export const scrubText = (text: string): string => {
  if (leavesHere(text)) return lastPart(text)
  return text.replace(url, publicUrl).replace(rootedPath, lastPart)
}

/** The same for every text in a tree of plain values. */
export const scrub = (value: unknown): unknown => {
  if (typeof value === 'string') return scrubText(value)
  if (Array.isArray(value)) return value.map(scrub)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, scrub(part)]))
}
