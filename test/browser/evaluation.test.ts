import { beforeAll, describe, expect, it } from 'vitest'
import { inBrowser, mayLackBrowser, watchedPage, type WatchedPage } from '../support/browser.ts'
import { makeCheckpoints } from '../support/checkpoint-evaluations.ts'
import { dashboardInBrowser } from '../support/dashboard-in-browser.ts'
import { makeShownRuns } from '../support/shown-run.ts'

describe.skipIf(mayLackBrowser())(`evaluations of several checkpoints ${inBrowser}`, () => {
  const shown = dashboardInBrowser(async () => {
    const runs = await makeShownRuns()
    await makeCheckpoints(runs.run)
    return runs
  })
  let watched: WatchedPage
  beforeAll(async () => {
    watched = await watchedPage(shown.browser)
  })

  it('are curves of nodes and of each prompt, the one that is looked at among them', async () => {
    const { page, open, problems } = watched
    await open(`${shown.server.url}/runs/mine/evaluation`)
    expect(await page.locator('#checkpoint-nodes .words').textContent()).toMatch(/^n1 classify_drift 0 to 2\.\d+ /)
    const faint = await page.locator('#checkpoints-n2 .line.faint').count()
    expect(faint).toBe(10)
    expect(await page.locator('#checkpoints-n2 .line.dashed').count()).toBe(0)
    const rows = page.getByRole('region', { name: 'Prompts, the worst change first' }).locator('tbody tr')
    const link = rows.filter({ hasText: 'n2' }).getByRole('link').first()
    const id = (await link.textContent()) ?? ''
    await link.click()
    await page.getByRole('heading', { name: `Prompt ${id}` }).waitFor()
    expect(await page.locator('#checkpoints-n2 .line.dashed').count()).toBe(1)
    expect(await page.locator('#checkpoints-n2 .words').textContent()).toContain(`${id} 0 to `)
    expect(await page.locator('#checkpoints-n3 .line.dashed').count()).toBe(0)
    await page.locator('#checkpoints-n2 summary').click()
    expect(await page.locator('#checkpoints-n2 thead th').count()).toBe(1 + 1 + 1 + faint)
    expect(problems).toEqual([])
  })
})
