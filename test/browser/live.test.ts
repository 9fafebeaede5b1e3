import { appendFile, cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { inBrowser, mayLackBrowser, watchedPage } from '../support/browser.ts'
import { dashboardInBrowser } from '../support/dashboard-in-browser.ts'
import { makeRuns, metricsLine, serveDashboard, statusOf } from '../support/dashboard.ts'

describe.skipIf(mayLackBrowser())(`a run that is being written ${inBrowser}`, () => {
  const shown = dashboardInBrowser(makeRuns)

  it('shows new steps, completions and attempts without being loaded anew', async () => {
    const { page, problems, open } = await watchedPage(shown.browser)
    await open(`${shown.server.url}/runs/mine/overview`)
    await page.evaluate(() => Object.assign(globalThis, { loaded: 'once' }))
    await page.getByText('● live').waitFor()
    // The first look of the server may come after the first line: lines are written until one is seen.
    let step = 2
    const writing = setInterval(
      () => void appendFile(join(shown.runs.run, 'metrics.jsonl'), metricsLine(step++, 1, 3)),
      300,
    )
    const words = page.locator('#reward .words', { hasText: '1 to 3' })
    await words.waitFor().finally(() => clearInterval(writing))

    await appendFile(join(shown.runs.run, 'metrics.jsonl'), metricsLine(step, 1, 4))
    const written = Date.now()
    await page.locator('#reward .words', { hasText: '1 to 4' }).waitFor()
    process.stdout.write(`a new step is there ${Date.now() - written} ms after it was written\n`)

    const attempts = [1, 2].map((attempt) => ({
      ...{ attempt, at: '2026-01-01T00:00:00.000Z', fromStep: attempt - 1, fromVersion: 0, pid: 1, host: 'box' },
      worker: { device: 'cpu' },
    }))
    await writeFile(join(shown.runs.run, 'attempts.jsonl'), attempts.map((one) => `${JSON.stringify(one)}\n`).join(''))
    await appendFile(join(shown.runs.run, 'metrics.jsonl'), metricsLine(1, 2, 5))
    await writeFile(join(shown.runs.run, 'status.json'), JSON.stringify(statusOf({ attempt: 2 })))
    await page.locator('#attempts tbody tr').nth(1).waitFor()
    await page.locator('#reward .words', { hasText: '1 to 5' }).waitFor()
    expect(await page.locator('#reward .line.faint').count()).toBe(1)

    await page.keyboard.press('g')
    await page.keyboard.press('b')
    await page.getByText(/from 2 steps on record/).waitFor()
    const rollouts = join(shown.runs.run, 'rollouts')
    await cp(join(rollouts, 'step-000001.jsonl'), join(rollouts, 'step-000002.jsonl'))
    await page.getByText(/from 3 steps on record/).waitFor()
    expect(await page.evaluate(() => (globalThis as unknown as { loaded?: string }).loaded)).toBe('once')
    expect(problems).toEqual([])
    await page.context().close()
  })
  it('says that the server is gone, and goes on when it is back', async () => {
    const own = await serveDashboard(shown.runs.directory)
    const { page, open } = await watchedPage(shown.browser)
    await open(`${own.url}/runs/mine/overview`)
    await page.getByText('● live').waitFor()
    await own.stop()
    await page.getByText('○ reconnecting').waitFor()
    const again = await serveDashboard(shown.runs.directory, Number(new URL(own.url).port))
    await page.getByText('● live').waitFor()
    expect(again.url).toBe(own.url)
    await again.stop()
    await page.context().close()
  })
})
