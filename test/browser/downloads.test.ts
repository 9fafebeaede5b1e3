import { readFile } from 'node:fs/promises'
import { XMLValidator } from 'fast-xml-parser'
import { beforeAll, describe, expect, it } from 'vitest'
import { inBrowser, mayLackBrowser, watchedPage, type WatchedPage } from '../support/browser.ts'
import { dashboardInBrowser } from '../support/dashboard-in-browser.ts'
import { makeShownRuns } from '../support/shown-run.ts'

describe.skipIf(mayLackBrowser())(`downloads of charts ${inBrowser}`, () => {
  const shown = dashboardInBrowser(makeShownRuns)
  let watched: WatchedPage
  beforeAll(async () => {
    watched = await watchedPage(shown.browser)
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
    await watched.open(`${shown.server.url}/runs/mine/${path}`)
    // Steps that were written before the dashboard started are read newest first; the charts grow with them.
    await watched.page.getByText('are still being read').first().waitFor({ state: 'hidden' })
    const csv = (await download(chart, 'CSV')).toString('utf8').trim().split('\n')
    expect(csv.length - 1).toBeGreaterThanOrEqual(leastRows)
    expect(new Set(csv.map((line) => line.split(',').length)).size).toBe(1)

    const svg = (await download(chart, 'SVG')).toString('utf8')
    expect(XMLValidator.validate(svg)).toBe(true)
    expect(svg).toContain('xmlns="http://www.w3.org/2000/svg"')
    expect(svg).not.toMatch(/var\(--|light-dark\(/)
    expect(svg).toMatch(/stroke|fill/)

    const png = await download(chart, 'PNG')
    expect(png.subarray(0, 8)).toEqual(Buffer.from('89504e470d0a1a0a', 'hex'))
    const onPage = await watched.page.locator(`figure#${chart} svg.chart`).boundingBox()
    expect(png.readUInt32BE(16)).toBe(Math.round((onPage?.width ?? 0) * 2))
    expect(png.length).toBeGreaterThan(2000)
    expect(watched.problems).toEqual([])
  })
})
