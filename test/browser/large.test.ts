import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, it } from 'vitest'
import { inBrowser, mayLackBrowser, watchedPage } from '../support/browser.ts'
import { dashboardInBrowser } from '../support/dashboard-in-browser.ts'
import { makeLargeRun } from '../support/large-run.ts'

// Texts and scores as in a real run; token ids, which the dashboard skips, are few.
const shape = { steps: 500, groupsPerStep: 50, samples: 4, tokens: 4, promptTokens: 4 }

describe.skipIf(mayLackBrowser())(`a run of 100,000 completions ${inBrowser}`, () => {
  const shown = dashboardInBrowser(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'drift-grpo-large-'))
    await makeLargeRun(directory, 'large', shape)
    return { directory, remove: () => rm(directory, { recursive: true, force: true }) }
  })

  it(
    'opens while it is still read, grows to all of it, and is searched and paged through',
    { timeout: 600_000 },
    async () => {
      // The pages' scripts are translated here when they are first asked for; an installed dashboard has them ready.
      const other = await watchedPage(shown.browser)
      await other.open(shown.server.url)
      await other.page.context().close()
      const { page, problems, open } = await watchedPage(shown.browser)
      page.setDefaultTimeout(300_000)
      const drawn = async (): Promise<string> => {
        const began = performance.now()
        await open(`${shown.server.url}/runs/large/rollouts`)
        await page.locator('tbody tr').nth(49).waitFor()
        return `${(performance.now() - began).toFixed(0)} ms`
      }
      const load = loadavg()[0]?.toFixed(1)
      process.stdout.write(
        `asked for the page until 50 rows were drawn, nothing read before: ${await drawn()}, load ${load}\n`,
      )
      expect(await page.locator('tbody tr').count()).toBe(50)
      expect(await page.locator('tbody tr').first().textContent()).toContain('499 · 0 · 0')
      await page.getByText('100,000 completions from 500 steps on record.').waitFor()
      process.stdout.write(`when all is read: ${await drawn()}\n`)
      await open(`${shown.server.url}/runs/large/rollouts?page=1999`)
      expect(await page.locator('tbody tr').last().textContent()).toContain('0 · 49 · 3')
      await open(`${shown.server.url}/runs/large/rollouts?text=rollback%20calendar&sort=worst`)
      await page
        .getByText(/page 1 of/)
        .first()
        .waitFor()
      expect(await page.locator('tbody tr').count()).toBe(50)
      for (const path of ['overview', 'nodes', 'components']) await open(`${shown.server.url}/runs/large/${path}`)
      expect(problems).toEqual([])
      // No audit was made of this run, which the browser reports: the page itself says so in words.
      await open(`${shown.server.url}/runs/large/judge`)
      await page.getByRole('heading', { name: 'Recent scores by node' }).waitFor()
      await page.context().close()
    },
  )
})
