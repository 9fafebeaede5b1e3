/** What the address names. Everything that a reader chose is in it, so that it can be sent to somebody else. */
export interface Place {
  /** Null: the list of runs. */
  readonly run: string | null
  readonly page: PageName
  readonly rest: readonly string[]
  readonly query: URLSearchParams
}

export const pageNames = ['overview', 'nodes', 'components', 'rollouts', 'evaluation', 'judge'] as const
export type PageName = (typeof pageNames)[number]

const isPage = (name: string | undefined): name is PageName => pageNames.includes(name as PageName)

const decode = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export const readPlace = (address: Pick<URL, 'pathname' | 'search'>): Place => {
  const parts = address.pathname
    .split('/')
    .filter((part) => part !== '')
    .map(decode)
  const query = new URLSearchParams(address.search)
  if (parts[0] !== 'runs' || parts[1] === undefined) return { run: null, page: 'overview', rest: [], query }
  return { run: parts[1], page: isPage(parts[2]) ? parts[2] : 'overview', rest: parts.slice(3), query }
}

type Query = Readonly<Record<string, string | number | null | undefined>>

const queryText = (query: Query): string => {
  const text = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      value === null || value === undefined || value === '' ? [] : [[name, String(value)]],
    ),
  ).toString()
  return text === '' ? '' : `?${text}`
}

export const addressOf = (
  run: string,
  page: PageName,
  rest: readonly (string | number)[] = [],
  query: Query = {},
): string =>
  `/${['runs', run, page, ...rest].map((part) => encodeURIComponent(String(part))).join('/')}${queryText(query)}`

/** The same place with some of its query exchanged; null takes a value away. */
export const withQuery = (place: Place, exchanged: Query): string => {
  const query = { ...Object.fromEntries(place.query), ...exchanged }
  if (place.run === null) return `/${queryText(query)}`
  return addressOf(place.run, place.page, place.rest, query)
}

let onMove = (): void => undefined

/** A plain click on a link to another place of this dashboard; null for anything else. */
const followed = (event: MouseEvent): HTMLAnchorElement | null => {
  const link = event.target instanceof Element ? event.target.closest('a') : null
  const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
  if (link === null || !isPlain || link.origin !== location.origin || link.hasAttribute('download')) return null
  return link.getAttribute('href')?.startsWith('#') === true ? null : link
}

/** Tells where the reader goes: links, buttons, back and forward. */
export const listenForMoves = (listener: () => void): void => {
  onMove = listener
  addEventListener('popstate', listener)
  document.addEventListener('click', (event) => {
    const link = followed(event)
    if (link === null) return
    event.preventDefault()
    go(link.pathname + link.search + link.hash)
  })
}

export const go = (address: string, replace = false): void => {
  if (replace) history.replaceState(null, '', address)
  else history.pushState(null, '', address)
  onMove()
}
