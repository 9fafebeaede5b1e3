import { beforeAll, describe, expect, it } from 'vitest'
import { inBrowser, mayLackBrowser, watchedPage, type WatchedPage } from '../support/browser.ts'
import { dashboardInBrowser } from '../support/dashboard-in-browser.ts'
import { makeShownRuns } from '../support/shown-run.ts'

describe.skipIf(mayLackBrowser())(`the dashboard by keyboard and by address ${inBrowser}`, () => {
  const shown = dashboardInBrowser(makeShownRuns)
  let watched: WatchedPage
  beforeAll(async () => {
    watched = await watchedPage(shown.browser)
  })
  const press = async (...keys: string[]): Promise<void> => {
    for (const key of keys) await watched.page.keyboard.press(key)
  }
  /** Waits for a place and until it is shown: a key acts on what is on the screen. */
  const at = async (pattern: RegExp): Promise<void> => {
    await watched.page.waitForURL(pattern)
    await watched.page.waitForFunction(
      () => document.querySelector('main')?.dataset['ready'] === location.pathname + location.search,
    )
  }
  const drawn = (heading: string): Promise<void> =>
    watched.page.getByRole('heading', { level: 1, name: heading }).waitFor()

  it('opens every page by its key', async () => {
    const { page, open, problems } = watched
    await open(`${shown.server.url}/runs/mine/overview`)
    for (const [key, path, heading] of [
      ['n', 'nodes', 'Nodes'],
      ['c', 'components', 'Components'],
      ['b', 'rollouts', 'Rollouts'],
      ['e', 'evaluation', 'Evaluation'],
      ['j', 'judge', 'judge'],
      ['o', 'overview', 'mine'],
    ] as const) {
      await press('g', key)
      await at(new RegExp(`/runs/mine/${path}`))
      await drawn(heading)
    }
    await press('g', 'r')
    await drawn('Runs')
    expect(new URL(page.url()).pathname).toBe('/')
    expect(problems).toEqual([])
  })
  it('is walked through without a mouse: search, list, group, samples, steps, differences, help', async () => {
    const { page, open, problems } = watched
    await open(`${shown.server.url}/runs/mine/rollouts`)
    await press('3')
    await at(/node=n3/)
    await press('/')
    await page.keyboard.type('calendar')
    await press('Enter', 'Escape')
    await at(/text=calendar/)
    await press('j', 'j', 'k', 'Enter')
    await at(/rollouts\/59\/\d+\?sample=\d/)
    await drawn('Step 59')
    await press('n')
    await at(/sample=[1-3]/)
    await press('p')
    await at(/sample=0/)
    await press('b')
    await at(/diff=/)
    await press('d')
    await at(/diff=off/)
    await page.getByText('show the differences').waitFor()
    await press('d')
    await at(/sample=0$/)
    await press('[')
    await at(/rollouts\/19\//)
    await drawn('Step 19')
    await press(']')
    await drawn('Step 59')
    await press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(problems).toEqual([])
  })
  it('shows by its address what was chosen, and goes back to what was before', async () => {
    const { page, open, problems } = watched
    await open(`${shown.server.url}/runs/mine/rollouts?node=n2&sort=worst&most=3&state=learning`)
    const rows = await page.locator('tbody tr').allTextContents()
    expect(rows.length).toBeGreaterThan(0)
    expect(rows.every((row) => row.includes('n2'))).toBe(true)
    expect(await page.getByLabel(/^node/).inputValue()).toBe('n2')
    const other = await watchedPage(shown.browser)
    await other.open(page.url())
    expect(await other.page.locator('tbody tr').allTextContents()).toEqual(rows)
    await other.page.context().close()
    const before = page.url()
    await page.locator('tbody a').first().click()
    await drawn('Step')
    await page.goBack()
    await at(/sort=worst/)
    await drawn('Rollouts')
    expect(page.url()).toBe(before)
    expect(problems).toEqual([])
  })
  it('keeps the theme that was chosen', async () => {
    const { page, open } = watched
    await open(`${shown.server.url}/`)
    const button = page.getByRole('button', { name: /Theme/ })
    while (!(await button.innerText()).includes('dark')) await button.click()
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    await page.reload()
    await page.waitForSelector('main[data-ready]')
    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(ground)
    expect(ground).toBe('rgb(13, 16, 20)')
  })
})
