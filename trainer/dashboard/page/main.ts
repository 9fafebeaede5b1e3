import { Live, ProblemError, type Connection } from './api.ts'
import { h, morph, type Child } from './dom.ts'
import { listenForKeys } from './keys.ts'
import type { Page } from './page.ts'
import { loadOthers, loadPage, pageTitles } from './pages.ts'
import { addressOf, listenForMoves, pageNames, readPlace, type Place } from './router.ts'
import { said, say } from './say.ts'
import { runSwitcher } from './switcher.ts'
import { applyTheme, currentTheme, nextTheme } from './theme.ts'
import { notice } from './ui.ts'

let connection: Connection = 'reconnecting'
let lastPage = ''
let drawing = 0

const app = document.querySelector('#app') ?? document.body
const main = h('main', { id: 'page', tabindex: -1 })
const top = h('header', {})
app.append(top, main, said)

/** The page that is shown. */
let shown: Page | null = null
const titleOf = ({ run, page }: Place): string => (run === null ? 'Runs' : pageTitles[page])

const connectionSigns = {
  connected: '● live',
  reconnecting: '○ reconnecting',
  paused: '‖ paused',
} as const satisfies Record<Connection, string>

const topBar = (place: Place): HTMLElement => {
  const { run } = place
  const links: Child =
    run === null
      ? null
      : h(
          'nav',
          { 'aria-label': 'Pages of the run' },
          pageNames.map((name) =>
            h(
              'a',
              { href: addressOf(run, name), 'aria-current': name === place.page ? 'page' : null },
              pageTitles[name],
            ),
          ),
        )
  return h(
    'header',
    {},
    h('a', { class: 'brand', href: '/' }, 'drift-grpo'),
    run === null ? null : runSwitcher(run),
    links,
    h('span', { class: 'space' }),
    run === null
      ? null
      : h('span', { class: `live live-${connection}`, title: 'Connection to the server' }, connectionSigns[connection]),
    run === null
      ? null
      : h(
          'button',
          { type: 'button', onclick: () => live.pause(!live.isPaused) },
          live.isPaused ? 'Continue' : 'Pause',
        ),
    h('button', { type: 'button', onclick: () => (nextTheme(), drawTop()) }, `Theme: ${currentTheme()}`),
  )
}

const drawTop = (): void => morph(top, topBar(readPlace(location)))

const problemOf = (title: string, error: unknown): HTMLElement => {
  const told =
    error instanceof ProblemError
      ? notice(error.message, error.remedy)
      : notice('The server does not answer.', 'It may have been stopped; this page tries again when it is back.')
  return h('div', {}, h('h1', {}, title), told)
}

const drawPage = async (place: Place): Promise<HTMLElement> => {
  shown = await loadPage(place.run === null ? 'runs' : place.page)
  return shown.draw(place)
}

/** Draws what the address names. A slower answer to an older question does not overwrite a newer one. */
const draw = async (): Promise<void> => {
  const place = readPlace(location)
  const own = ++drawing
  const address = location.pathname + location.search
  live.follow(place.run)
  drawTop()
  const title = titleOf(place)
  document.title = `${place.run === null ? '' : `${place.run} · `}${title} · drift-grpo`
  const content = await drawPage(place).catch((error: unknown) => problemOf(title, error))
  if (own !== drawing) return
  // From one group, or evaluation, to another scroll and focus stay.
  const name = `${place.run ?? ''}/${place.page}/${place.rest.length}`
  const fresh = h('main', { id: 'page', tabindex: -1 }, content)
  if (name === lastPage) morph(main, fresh)
  else {
    main.replaceChildren(content)
    if (lastPage !== '') {
      scrollTo(0, 0)
      main.focus({ preventScroll: true })
    }
    const linked = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null
    linked?.scrollIntoView()
  }
  // Which place is shown: the address runs ahead of it.
  main.dataset['ready'] = address
  if (lastPage === '') loadOthers()
  lastPage = name
  // The server is still reading older steps: what is shown grows.
  if (main.querySelector('[data-incomplete]') !== null) drawSoon()
}

const leastPause = 700
let waiting: ReturnType<typeof setTimeout> | undefined
let drawnAt = 0

/** Many changes in a short time are drawn once. */
const drawSoon = (): void => {
  if (waiting !== undefined) return
  waiting = setTimeout(
    () => {
      waiting = undefined
      drawnAt = Date.now()
      void draw()
    },
    Math.max(0, drawnAt + leastPause - Date.now()),
  )
}

const live = new Live(
  (changes) => {
    if (changes.some((change) => change === 'everything' || shown?.shows.includes(change) === true)) drawSoon()
  },
  (state) => {
    if (state !== connection && state !== 'connected') say(`Live updates: ${state}`)
    connection = state
    drawTop()
  },
)

applyTheme(currentTheme())
listenForMoves(() => void draw())
listenForKeys()
let width = document.documentElement.clientWidth
addEventListener('resize', () => {
  if (document.documentElement.clientWidth === width) return
  width = document.documentElement.clientWidth
  drawSoon()
})
void draw()
