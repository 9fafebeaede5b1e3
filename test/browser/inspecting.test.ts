import { beforeAll, describe, expect, it } from 'vitest'
import { inBrowser, mayLackBrowser, watchedPage, type WatchedPage } from '../support/browser.ts'
import { dashboardInBrowser } from '../support/dashboard-in-browser.ts'
import { makeShownRuns } from '../support/shown-run.ts'

describe.skipIf(mayLackBrowser())(`what is looked into ${inBrowser}`, () => {
  const shown = dashboardInBrowser(makeShownRuns)
  let watched: WatchedPage
  beforeAll(async () => {
    watched = await watchedPage(shown.browser)
  })
  const open = (path: string): Promise<void> => watched.openWhole(`${shown.server.url}/runs/mine/${path}`)

  it('searches by a regular expression, says why one is none, and gives up one that never ends', async () => {
    const { page, problems } = watched
    await open('rollouts')
    await page.getByLabel('regular expression').check()
    await page.waitForURL(/regex=on/)
    await page.getByRole('searchbox', { name: 'text of the completion' }).fill('"why": "(mail|task) 2\\d{3}"')
    await page.keyboard.press('Enter')
    await page.waitForURL(/text=/)
    await page
      .getByText(/page 1 of 1, \d+ completion/)
      .first()
      .waitFor()
    expect(problems).toEqual([])

    await open(`rollouts?regex=on&text=${encodeURIComponent('(a|b')}`)
    await page.getByText('Unterminated group').waitFor()
    // The filters are still there, to mend it.
    expect(await page.getByRole('searchbox', { name: 'text of the completion' }).inputValue()).toBe('(a|b')
    await open(`rollouts?regex=on&text=${encodeURIComponent('(.*)*\\u0000')}`)
    await page.getByText('takes too long').waitFor()
    problems.length = 0
  })
  it('shows charts on a logarithmic axis where the values allow it, by its address', async () => {
    const { page, problems } = watched
    await open('overview')
    const marks = (): Promise<string[]> => page.locator('#kl svg .tick').allTextContents()
    const linear = await marks()
    await page.getByLabel('scale').selectOption('log')
    await page.waitForURL(/scale=log/)
    await page.getByText('Logarithmic.').first().waitFor()
    expect(await marks()).not.toEqual(linear)
    expect(await page.locator('#kl svg path.line').first().getAttribute('d')).not.toContain('NaN')
    expect(problems).toEqual([])
  })
  it('shows how each prompt of a node changed, in the order that was chosen', async () => {
    const { page, problems } = watched
    await open('nodes?node=n3')
    const changes = async (): Promise<number[]> => {
      const texts = await page.locator('#prompt-lines svg text').allTextContents()
      return texts
        .filter((text) => /^[▲▼±]/.test(text))
        .map((text) => Number(text.replace('−', '-').replace(/[▲▼±+ ]/g, '')))
    }
    const worst = await changes()
    expect(worst.length).toBeGreaterThan(1)
    expect(worst).toEqual(worst.toSorted((a, b) => a - b))
    await page.getByLabel('order of prompts').selectOption('best')
    await page.waitForURL(/order=best/)
    await expect.poll(changes).toEqual(worst.toSorted((a, b) => b - a))
    await page.getByRole('heading', { name: 'How much prompts of n3 changed' }).waitFor()
    await page.getByRole('link', { name: /^Evaluation step-30/ }).click()
    await page.getByRole('heading', { name: 'Evaluation step-30: base against trained' }).waitFor()
    expect(problems).toEqual([])
  })
  it('shows how the judge scored, at all nodes and at one, with the rules that fire', async () => {
    const { page, problems } = watched
    await open('judge')
    const scores = page.getByRole('region', { name: 'Scores of the recent steps' }).locator('tbody tr')
    expect(await scores.count()).toBe(6)
    expect(await page.locator('#judge-distribution svg rect').count()).toBeGreaterThan(20)
    expect(await page.getByRole('region', { name: 'Rules' }).locator('tbody tr').count()).toBe(5)
    expect(await page.locator('#suspects article').count()).toBe(5)
    await page.keyboard.press('4')
    await page.waitForURL(/node=n4/)
    await page.getByRole('heading', { name: 'Distribution of the scores, n4 evaluate_risk' }).waitFor()
    expect(await page.getByRole('heading', { name: 'Audit' }).count()).toBe(1)
    expect(problems).toEqual([])
  })
})
