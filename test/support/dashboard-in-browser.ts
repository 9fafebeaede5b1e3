import type { Browser } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { launchBrowser } from './browser.ts'
import { serveDashboard } from './dashboard.ts'

interface Runs {
  readonly directory: string
  remove(): Promise<void>
}

/** What the tests of a block look at; there from its first test on. */
export interface Shown<R extends Runs> {
  runs: R
  server: Awaited<ReturnType<typeof serveDashboard>>
  browser: Browser
}

/** Makes runs, a dashboard over them and a browser before the tests of a block, and ends all three behind them. */
export const dashboardInBrowser = <R extends Runs>(make: () => Promise<R>): Shown<R> => {
  const shown: Partial<Shown<R>> = {}
  beforeAll(async () => {
    shown.runs = await make()
    shown.server = await serveDashboard(shown.runs.directory)
    shown.browser = await launchBrowser()
  }, 600_000)
  afterAll(async () => {
    await shown.browser?.close()
    await shown.server?.stop()
    await shown.runs?.remove()
  })
  return shown as Shown<R>
}
