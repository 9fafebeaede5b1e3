import { readFile } from 'node:fs/promises'
import { XMLValidator } from 'fast-xml-parser'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inBrowser, launchBrowser, mayLackBrowser, watchedPage, type WatchedPage } from '../support/browser.ts'
import { serveDashboard } from '../support/dashboard.ts'
import { makeShownRuns } from '../support/shown-run.ts'

describe.skipIf(mayLackBrowser())(`downloads of charts ${inBrowser}`, () => {
  let runs: Awaited<ReturnType<typeof makeShownRuns>>
  let server: Awaited<ReturnType<typeof serveDashboard>>
  let browser: Browser
  let watched: WatchedPage
  beforeAll(async () => {
    runs = await makeShownRuns()
    server = await serveDashboard(runs.directory)
    browser = await launchBrowser()
    watched = await watchedPage(browser)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    await runs?.remove()
  })
  const download = async (chart: string, kind: 'CSV' | 'SVG' | 'PNG'): Promise<Buffer> => {
    const [file] = await Promise.all([
      watched.page.waitForEvent('download'),
      watched.page.locator(`figure#${chart}`).getByRole('button', { name: kind }).click(),
    ])
    expect(file.suggestedFilename()).toBe(`${chart}.${kind.toLowerCase()}`)
    return readFile(await file.path())
  }

  it.each([
    ['overview', 'reward', 60],
    ['overview', 'reward-by-node', 60],
    ['nodes?node=n2', 'distribution-n2', 60],
    ['nodes?node=n2', 'n2-judge', 60],
    ['evaluation', 'scatter', 10],
  ])('of %s, %s: numbers, and pictures that stand alone', async (path, chart, leastRows) => {
    await watched.open(`${server.url}/runs/mine/${path}`)
    const csv = (await download(chart, 'CSV')).toString('utf8').trim().split('\n')
    expect(csv.length - 1).toBeGreaterThanOrEqual(leastRows)
    expect(new Set(csv.map((line) => line.split(',').length)).size).toBe(1)

    const svg = (await download(chart, 'SVG')).toString('utf8')
    expect(XMLValidator.validate(svg)).toBe(true)
    expect(svg).toContain('xmlns="http://www.w3.org/2000/svg"')
    expect(svg).not.toContain('var(--')
    expect(svg).toMatch(/stroke|fill/)

    const png = await download(chart, 'PNG')
    expect(png.subarray(0, 8)).toEqual(Buffer.from('89504e470d0a1a0a', 'hex'))
    const shown = await watched.page.locator(`figure#${chart} svg.chart`).boundingBox()
    expect(png.readUInt32BE(16)).toBe(Math.round((shown?.width ?? 0) * 2))
    expect(png.length).toBeGreaterThan(2000)
    expect(watched.problems).toEqual([])
  })
})
