import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { inBrowser, mayLackBrowser, watchedPage, type WatchedPage } from '../support/browser.ts'
import { dashboardInBrowser } from '../support/dashboard-in-browser.ts'
import { statusOf } from '../support/dashboard.ts'
import { makeShownRun, makeShownRuns } from '../support/shown-run.ts'
import { writeStatistics } from '../support/written-statistics.ts'

describe.skipIf(mayLackBrowser())(`several runs ${inBrowser}`, () => {
  const shown = dashboardInBrowser(async () => {
    const runs = await makeShownRuns()
    await writeStatistics(join(runs.run, 'eval', 'final'))
    const other = await makeShownRun(runs.directory, 'other', 11)
    const later = { state: 'stopped', step: 60, steps: 90, updatedAt: '2026-02-01T00:00:00.000Z' } as const
    await writeFile(join(other, 'status.json'), JSON.stringify(statusOf(later)))
    return runs
  })
  let watched: WatchedPage
  beforeAll(async () => {
    watched = await watchedPage(shown.browser)
  })
  const names = (): Promise<string[]> => watched.page.locator('tbody [data-row] a').allTextContents()
  const cell = (run: string, column: string) =>
    watched.page
      .locator('tbody tr', { has: watched.page.getByRole('link', { name: run, exact: true }) })
      .locator(`:nth-child(${column})`)

  it('are listed with change, interval, worst node and alerts, ordered and filtered by the address', async () => {
    const { page, open, problems } = watched
    await open(shown.server.url)
    expect(await names()).toEqual(['other', 'mine'])
    expect(await cell('mine', '7').first().innerText()).toMatch(/▲ \+2\.5\d\n\d\.\d\d to \d\.\d\d/)
    expect(await cell('mine', '8').first().innerText()).toMatch(/n\d \w+\n▲ \+\d\.\d\d/)
    expect(await cell('mine', '9').first().innerText()).toMatch(/1 note/)
    await page.getByRole('link', { name: 'run', exact: true }).click()
    await page.waitForURL(/sort=run$/)
    await expect.poll(names).toEqual(['mine', 'other'])
    expect(await page.locator('th[aria-sort=ascending]').innerText()).toBe('run ▲')
    await page.getByRole('link', { name: 'run ▲', exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/sort=-run$/)
    await expect.poll(names).toEqual(['other', 'mine'])
    await page.getByRole('searchbox').fill('FINISHED mi')
    await page.keyboard.press('Enter')
    await page.waitForURL(/text=FINISHED/)
    await expect.poll(names).toEqual(['mine'])
    expect(problems).toEqual([])
  })
  it('are held against the one that is pinned, until it is let go', async () => {
    const { page, open, problems } = watched
    await open(shown.server.url)
    expect(await page.getByText('to baseline').count()).toBe(0)
    await page.getByRole('button', { name: 'pin mine' }).focus()
    await page.keyboard.press('Space')
    await page.waitForURL(/pin=mine/)
    await page.getByText('to baseline').waitFor()
    expect(await cell('other', '5').first().innerText()).toMatch(/\d\.\d\d of 5\.60\n[▲▼±] ?[+−]?\d\.\d\d to baseline/)
    expect(await cell('mine', '5').first().innerText()).not.toContain('baseline')
    expect(await page.getByRole('button', { name: 'pin mine' }).getAttribute('aria-pressed')).toBe('true')
    await page.getByRole('button', { name: 'pin mine' }).click()
    await page.waitForURL((url) => !url.search.includes('pin'))
    await page.getByText('to baseline').waitFor({ state: 'detached' })
    expect(problems).toEqual([])
  })
  it('are changed from one to the other on the page that is looked at, with what was chosen there', async () => {
    const { page, open, problems } = watched
    await open(`${shown.server.url}/runs/mine/rollouts?node=n2&sort=worst&page=3`)
    const list = page.getByRole('combobox', { name: 'Run', exact: true })
    await expect.poll(() => list.locator('option').allTextContents()).toEqual(['mine', 'other'])
    await list.selectOption('other')
    await page.waitForURL(/\/runs\/other\/rollouts\?node=n2&sort=worst$/)
    await page.locator('tbody tr').first().waitFor()
    await open(`${shown.server.url}/runs/mine/rollouts/59/3?sample=1`)
    await list.selectOption('other')
    await page.waitForURL(/\/runs\/other\/rollouts$/)
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Step 59' }).waitFor()
    expect(await list.inputValue()).toBe('mine')
    expect(problems).toEqual([])
  })
})
