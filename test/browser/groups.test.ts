import { beforeAll, describe, expect, it } from 'vitest'
import { inBrowser, mayLackBrowser, watchedPage, type WatchedPage } from '../support/browser.ts'
import { dashboardInBrowser } from '../support/dashboard-in-browser.ts'
import { makeShownRuns } from '../support/shown-run.ts'

describe.skipIf(mayLackBrowser())(`a group of completions ${inBrowser}`, () => {
  const shown = dashboardInBrowser(makeShownRuns)
  let watched: WatchedPage
  beforeAll(async () => {
    watched = await watchedPage(shown.browser, { permissions: ['clipboard-read', 'clipboard-write'] })
  })
  const copied = (): Promise<string> => watched.page.evaluate(() => navigator.clipboard.readText())

  it('gives a completion with its scores, and its address, to the clipboard', async () => {
    const { page, open, problems } = watched
    await open(`${shown.server.url}/runs/mine/rollouts/59/3?sample=1&spaces=on`)
    await page.getByRole('button', { name: 'JSON: Copy sample 2 with its scores' }).click()
    await page.locator('[data-done]').waitFor()
    const { completion, score, ...about } = JSON.parse(await copied()) as {
      completion: { text: string; index: number }
      score: { total: number }
    }
    expect(about).toMatchObject({ run: 'mine', step: 59, group: 3, node: 'n4', attempt: 1 })
    expect(completion.index).toBe(2)
    const card = page.locator('article.card').nth(2)
    expect(await card.locator('b').first().innerText()).toBe(`R ${score.total.toFixed(2)}`)
    await card.getByRole('button', { name: 'Link: Copy the address of sample 2' }).click()
    await expect.poll(copied).toBe(`${shown.server.url}/runs/mine/rollouts/59/3?sample=2`)
    expect(problems).toEqual([])
  })
  it('is followed over the steps of its prompt, by a slider that keeps what was chosen and its focus', async () => {
    const { page, open, problems } = watched
    await open(`${shown.server.url}/runs/mine/rollouts/59/3?sample=1&spaces=on`)
    await page.getByText('Prompt ').first().waitFor()
    const slider = page.getByRole('slider', { name: /this prompt over the steps/ })
    expect(await slider.inputValue()).toBe('1')
    await slider.focus()
    await page.keyboard.press('ArrowLeft')
    await page.waitForURL(/rollouts\/19\/3\?sample=1&spaces=on$/)
    await page.getByRole('heading', { level: 1, name: 'Step 19, group 3' }).waitFor()
    expect(await slider.evaluate((element) => element === document.activeElement)).toBe(true)
    expect(await slider.getAttribute('aria-valuetext')).toMatch(/^step 19, mean R \d/)
    expect(await page.locator('article.chosen pre').first().textContent()).toContain('·')
    await page.keyboard.press('ArrowRight')
    await page.waitForURL(/rollouts\/59\/3/)
    expect(problems).toEqual([])
  })
})
