import { beforeAll, describe, expect, it } from 'vitest'
import { inBrowser, mayLackBrowser, watchedPage, type WatchedPage } from '../support/browser.ts'
import { dashboardInBrowser } from '../support/dashboard-in-browser.ts'
import { makeShownRuns } from '../support/shown-run.ts'

describe.skipIf(mayLackBrowser())(`what charts show is chosen ${inBrowser}`, () => {
  const shown = dashboardInBrowser(makeShownRuns)
  let watched: WatchedPage
  beforeAll(async () => {
    watched = await watchedPage(shown.browser, { permissions: ['clipboard-read', 'clipboard-write'] })
  })
  const open = (path: string): Promise<void> => watched.openWhole(`${shown.server.url}/runs/mine/${path}`)

  it.each([
    ['tokens', /over tokens 4000 to 2\.4e5\.|over tokens 4000 to 240000\./],
    ['clock', /over time, UTC 2026-01-01 00:00:00 to 2026-01-01 00:00:00\./],
    ['minutes', /over minutes 0 to 0\./],
  ])('their axis, %s, on the overview and on all charts of a node', async (x, words) => {
    const { page, problems } = watched
    await open('overview')
    await page.getByLabel(/^x /).selectOption(x)
    await page.waitForURL(new RegExp(`x=${x}`))
    await expect.poll(() => page.locator('#reward .words').textContent()).toMatch(words)
    await open(`nodes?node=n2&x=${x}`)
    for (const id of ['distribution-n2', 'length-n2', 'n2-judge'])
      expect(await page.locator(`#${id} .words`).textContent()).toMatch(words)
    expect(problems).toEqual([])
  })
  it('raw scores or what they add, by the weight of each component', async () => {
    const { page, problems } = watched
    await open('components')
    const numbers = async (): Promise<number[]> => {
      const row = page.locator('#page .heat').first().locator('tbody tr', { hasText: 'strict format' })
      return (await row.locator('td').allTextContents()).map((text) => Number(text))
    }
    const [weight = 0, ...weighted] = await numbers()
    expect(weight).toBe(0.5)
    await page.getByLabel(/^as /).selectOption('raw')
    await page.waitForURL(/as=raw/)
    await page.getByText('Raw scores at each node').waitFor()
    const [, ...raw] = await numbers()
    expect(raw).toHaveLength(5)
    for (const [i, value] of raw.entries()) expect(Math.abs(value * weight - (weighted[i] ?? 0))).toBeLessThan(0.01)
    expect(problems).toEqual([])
  })
  it('and sent: its address is in the clipboard, or offered where the browser gives none', async () => {
    const { page, problems } = watched
    await open('nodes?node=n2&smooth=0.2')
    const link = page.getByRole('button', { name: 'Link: Copy the address of Mean length, tokens' })
    await link.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('status').filter({ hasText: 'copied' }).waitFor({ state: 'attached' })
    const address = await page.evaluate(() => navigator.clipboard.readText())
    expect(address).toBe(`${shown.server.url}/runs/mine/nodes?node=n2&smooth=0.2#length-n2`)
    const other = await watchedPage(shown.browser)
    await other.page.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
    await other.open(address)
    await expect
      .poll(() =>
        other.page
          .locator('#length-n2')
          .boundingBox()
          .then((box) => box?.y ?? -1),
      )
      .toBeLessThan(900)
    await other.page.getByRole('button', { name: 'Link: Copy the address of Mean length, tokens' }).click()
    expect(await other.page.getByRole('textbox', { name: 'To be copied' }).inputValue()).toBe(address)
    await other.page.getByRole('button', { name: 'Close' }).click()
    await other.page.context().close()
    expect([...problems, ...other.problems]).toEqual([])
  })
  it('while it runs, or held still', async () => {
    const { page } = watched
    await open('overview')
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('‖ paused').waitFor()
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('● live').waitFor()
    expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(1)
  })
})
