import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { inBrowser, mayLackBrowser, watchedPage, type WatchedPage } from '../support/browser.ts'
import { dashboardInBrowser } from '../support/dashboard-in-browser.ts'
import { makeShownRuns } from '../support/shown-run.ts'

describe.skipIf(mayLackBrowser())(`reviewing a run ${inBrowser}`, () => {
  const shown = dashboardInBrowser(makeShownRuns)
  let watched: WatchedPage
  beforeAll(async () => {
    watched = await watchedPage(shown.browser)
  })
  const open = (path: string): Promise<void> => watched.openWhole(`${shown.server.url}/runs/mine/${path}`)

  it('searches what the judge said, at one node, and leads to all of it', async () => {
    const { page, problems } = watched
    await open('judge?node=n4')
    await page.keyboard.press('/')
    await page.keyboard.type('^(rollback|calendar) IS')
    await page.keyboard.press('Enter')
    await page.waitForURL(/text=/)
    await page.getByText('0 completions, the newest first').waitFor()
    await page.getByLabel('regular expression').check()
    await page.waitForURL(/regex=on/)
    const rows = page.getByRole('region', { name: 'Completions by what the judge said' }).locator('tbody tr')
    await rows.nth(19).waitFor()
    for (const text of await rows.allTextContents()) expect(text).toMatch(/n4 .*(rollback|calendar) is grounded$/)
    await page.getByRole('link', { name: /All of them/ }).click()
    await page.waitForURL(/rollouts\?.*in=reason/)
    await page.locator('tbody tr').nth(20).waitFor()
    for (const text of await page.locator('tbody .excerpt').allTextContents())
      expect(text).toMatch(/^(rollback|calendar) is grounded$/)
    expect(await page.getByLabel('search in').inputValue()).toBe('reason')
    expect(problems).toEqual([])
    await open(`judge?text=${encodeURIComponent('(a')}&regex=on`)
    await page.getByText('Unterminated group').waitFor()
    problems.length = 0
  })
  it('marks completions by keyboard, finds the marked ones, takes a mark back, and downloads them', async () => {
    const { page, problems } = watched
    await open('rollouts/59/3?sample=1')
    const marks = page.getByRole('group', { name: 'Mark of sample 1' })
    await marks.getByRole('button', { name: 'hack' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('status').filter({ hasText: 'sample 1: hack' }).waitFor({ state: 'attached' })
    await expect.poll(() => marks.getByRole('button', { name: 'hack' }).getAttribute('aria-pressed')).toBe('true')
    expect(await marks.getByRole('button', { name: 'hack' }).evaluate((one) => one === document.activeElement)).toBe(
      true,
    )
    await page.getByRole('group', { name: 'Mark of sample 2' }).getByRole('button', { name: 'fine' }).click()
    await page.getByRole('status').filter({ hasText: 'sample 2: fine' }).waitFor({ state: 'attached' })

    await open('rollouts')
    await page.getByLabel('mark', { exact: false }).first().selectOption('any')
    await page.waitForURL(/label=any/)
    const cells = page.locator('tbody tr')
    await expect.poll(() => cells.count()).toBe(2)
    expect(await cells.allTextContents()).toEqual([
      expect.stringMatching(/^59 · 3 · 1.*⚑ hack/),
      expect.stringMatching(/^59 · 3 · 2.*✓ fine/),
    ])
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'marks as JSONL' }).click(),
    ])
    const lines = (await readFile(await file.path(), 'utf8')).trim().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { label: string }).label)).toEqual(['hack', 'fine'])

    await open('rollouts/59/3')
    await marks.getByRole('button', { name: 'hack' }).click()
    await expect.poll(() => marks.getByRole('button', { name: 'hack' }).getAttribute('aria-pressed')).toBe('false')
    const written = (await readFile(join(shown.runs.run, 'labels.jsonl'), 'utf8')).trim().split('\n')
    expect(written.map((line) => (JSON.parse(line) as { label: string }).label)).toEqual(['hack', 'fine', 'none'])
    expect(problems).toEqual([])
  })
  it('shows a mark that somebody else made, and says why one is not taken', async () => {
    const { page, problems } = watched
    await open('rollouts/59/4')
    await page.getByText('● live').waitFor()
    const other = await watchedPage(shown.browser)
    await other.open(page.url())
    const markOf = (one: WatchedPage['page']) =>
      one.getByRole('group', { name: 'Mark of sample 0' }).getByRole('button', { name: 'fine' })
    await markOf(other.page).click()
    await expect.poll(() => markOf(page).getAttribute('aria-pressed')).toBe('true')
    await other.page.route('**/labels', (route) =>
      route.fulfill({ status: 422, json: { error: 'the disk is full', remedy: 'Free some space.' } }),
    )
    await other.page.getByRole('group', { name: 'Mark of sample 1' }).getByRole('button', { name: 'hack' }).click()
    await other.page.getByRole('alert').filter({ hasText: 'Not marked: the disk is full Free some space.' }).waitFor()
    await other.page.context().close()
    expect(problems).toEqual([])
  })
})
