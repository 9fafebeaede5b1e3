import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { packageRoot } from '../../data/package-root.ts'
import { findBrowser } from '../../scripts/setup/browser.mjs'

/** May browser tests be skipped? Where no browser is installed; `DRIFT_GRPO_REQUIRE_BROWSER=1` makes them fail instead. */
export const mayLackBrowser = (): boolean =>
  findBrowser() === undefined && process.env['DRIFT_GRPO_REQUIRE_BROWSER'] !== '1'

/** Says in a test's name why it may have been skipped. */
export const inBrowser = '(skipped where no browser is installed: apt-get install chromium-headless-shell)'

/** Pictures that tests leave behind, for people to look at. */
export const pictureFolder = (): string => {
  const folder = join(packageRoot(), '.cache', 'screenshots')
  mkdirSync(folder, { recursive: true })
  return folder
}

export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: findBrowser() ?? 'chromium',
    args: ['--no-sandbox', '--disable-background-networking'],
  })

export interface WatchedPage {
  readonly page: Page
  /** Errors, refused content, dialogs: everything that must not happen. */
  readonly problems: string[]
  /** Opens an address and waits until it is drawn. */
  readonly open: (address: string) => Promise<void>
  /** The same, and until the server has read all that it shows. */
  readonly openWhole: (address: string) => Promise<void>
}

/** A page of its own, watched for what must not happen. */
export const watchedPage = async (browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> => {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  const open = async (address: string): Promise<void> => {
    await page.goto(address)
    await page.waitForSelector('main[data-ready]')
  }
  const openWhole = async (address: string): Promise<void> => {
    await open(address)
    await page.waitForFunction(() => document.querySelector('main [data-incomplete]') === null)
  }
  return { page, problems, open, openWhole }
}
