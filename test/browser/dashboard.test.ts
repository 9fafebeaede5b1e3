import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findBrowser } from '../../scripts/setup/browser.mjs'
import { mayLackBrowser } from '../support/browser.ts'
import { makeRuns, metricsLine, serveDashboard } from '../support/dashboard.ts'

const attack = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u202e{{7*7}}</pre>'

describe.skipIf(mayLackBrowser())('the dashboard in a browser', () => {
  let runs: Awaited<ReturnType<typeof makeRuns>>
  let server: Awaited<ReturnType<typeof serveDashboard>>
  let browser: Browser
  let page: Page
  const problems: string[] = []

  beforeAll(async () => {
    runs = await makeRuns('<b>run')
    const folder = join(runs.run, 'rollouts')
    for (const name of await readdir(folder)) {
      const groups = (await readFile(join(folder, name), 'utf8')).trim().split('\n')
      const hostile = groups.map((line) => {
        const record = JSON.parse(line) as { group: { completions: { text: string }[] } }
        for (const completion of record.group.completions) completion.text = attack
        return `${JSON.stringify(record)}\n`
      })
      await writeFile(join(folder, name), hostile.join(''))
    }
    server = await serveDashboard(runs.directory)
    browser = await chromium.launch({
      executablePath: findBrowser() ?? 'chromium',
      args: ['--no-sandbox', '--disable-background-networking'],
    })
    page = await browser.newPage()
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text())
    })
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    await runs?.remove()
  })
  const open = async (path: string): Promise<void> => {
    await page.goto(`${server.url}/runs/${encodeURIComponent('<b>run')}${path}`)
    await page.waitForSelector('main[data-ready]')
  }

  it.each(['/overview', '/nodes', '/components', '/rollouts', '/rollouts/0/0', '/evaluation'])(
    'shows hostile text as text on %s, without an error',
    async (path) => {
      await open(path)
      expect(await page.title()).toContain('<b>run')
      expect(await page.locator('main img, main script, main b b').count()).toBe(0)
      expect(await page.locator('main h1').count()).toBe(1)
      const shown = (await page.locator('main').textContent())?.includes(attack)
      expect(shown).toBe(path === '/nodes' || path.startsWith('/rollouts'))
      expect(problems).toEqual([])
    },
  )
  it('shows a new step without being asked', async () => {
    await open('/overview')
    await page.getByText('● live').waitFor()
    // The first look of the server may come after the first line: lines are written until one is seen.
    let step = 2
    const writing = setInterval(() => void appendFile(join(runs.run, 'metrics.jsonl'), metricsLine(step++, 1, 3)), 300)
    await page
      .locator('#reward .words', { hasText: '1 to 3' })
      .waitFor()
      .finally(() => clearInterval(writing))
    expect(problems).toEqual([])
  })
  it('is moved through by keys, and keeps what was chosen in the address', async () => {
    await open('/overview')
    await page.keyboard.press('g')
    await page.keyboard.press('n')
    await page.waitForURL(/\/nodes/)
    await page.keyboard.press('3')
    await page.waitForURL(/node=n3/)
    await page.getByRole('heading', { name: 'n3 search_api', level: 2 }).waitFor()
    expect(problems).toEqual([])
  })
})
