import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import axe from 'axe-core'
import { describe, expect, it } from 'vitest'
import { inBrowser, mayLackBrowser, pictureFolder, watchedPage } from '../support/browser.ts'
import { makeCheckpoints } from '../support/checkpoint-evaluations.ts'
import { dashboardInBrowser } from '../support/dashboard-in-browser.ts'
import { makeShownRun, makeShownRuns } from '../support/shown-run.ts'

const pages: Readonly<Record<string, string>> = {
  runs: '/',
  compare: '/?run=mine&run=other&pin=other',
  overview: '/runs/mine/overview',
  nodes: '/runs/mine/nodes',
  components: '/runs/mine/components',
  rollouts: '/runs/mine/rollouts',
  group: '/runs/mine/rollouts/59/3?sample=1',
  evaluation: '/runs/mine/evaluation',
  judge: '/runs/mine/judge',
}
const themes = ['light', 'dark'] as const
const widths = { wide: 1440, narrow: 360 } as const

describe.skipIf(mayLackBrowser())(`how the pages look ${inBrowser}`, () => {
  const shown = dashboardInBrowser(async () => {
    const runs = await makeShownRuns()
    const other = await makeShownRun(runs.directory, 'other', 11)
    const values = { grpo: { beta: 0.02 }, rewards: { maxima: { judge: 1 } } }
    await writeFile(join(other, 'config.resolved.json'), JSON.stringify({ values, provenance: {} }))
    await makeCheckpoints(runs.run)
    return runs
  })

  const cases = Object.keys(pages).flatMap((name) =>
    themes.flatMap((theme) => (['wide', 'narrow'] as const).map((width) => ({ name, theme, width }))),
  )
  it.each(cases)(
    '$name, $theme, $width: accessible, no wider than the screen, no errors',
    async ({ name, theme, width }) => {
      const { page, problems, openWhole } = await watchedPage(shown.browser, {
        colorScheme: theme,
        viewport: { width: widths[width], height: 900 },
        reducedMotion: 'reduce',
        // Only the checker is put into the page; what the page itself may do is tested elsewhere.
        bypassCSP: true,
      })
      try {
        // What is still being read would come in behind the picture.
        await openWhole(shown.server.url + (pages[name] ?? ''))
        await page.screenshot({ path: join(pictureFolder(), `${name}-${theme}-${width}.png`), fullPage: true })
        const sizes = await page.evaluate(() => [
          document.documentElement.scrollWidth,
          document.documentElement.clientWidth,
        ])
        expect(sizes[0]).toBeLessThanOrEqual(sizes[1] ?? 0)
        await page.evaluate(axe.source)
        const found = await page.evaluate(async () => {
          const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run()
          return violations.map(
            ({ id, nodes }) =>
              `${id}: ${nodes
                .map(({ html }) => html.slice(0, 160))
                .slice(0, 3)
                .join(' | ')}`,
          )
        })
        expect(found).toEqual([])
        expect(problems).toEqual([])
      } finally {
        await page.context().close()
      }
    },
  )
})
