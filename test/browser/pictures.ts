/**
 * Makes the pictures of the dashboard that the README shows, from a run of yours:
 *
 *     npx tsx test/browser/pictures.ts runs/<id> [docs/images]
 */
import { basename, dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { launchBrowser, watchedPage } from '../support/browser.ts'
import { serveDashboard } from '../support/dashboard.ts'

const [run = '', folder = 'docs/images'] = process.argv.slice(2)
const id = basename(resolve(run))
const pictures = [
  { name: 'dashboard-nodes', path: 'nodes', theme: 'light', height: 660 },
  { name: 'dashboard-overview', path: 'overview', theme: 'dark', height: 820 },
  { name: 'dashboard-rollouts', path: 'rollouts?sort=worst', theme: 'light', height: 660 },
] as const

const server = await serveDashboard(dirname(resolve(run)))
const browser = await launchBrowser()
for (const { name, path, theme, height } of pictures) {
  const { page, openWhole } = await watchedPage(browser, { colorScheme: theme, viewport: { width: 1280, height } })
  await openWhole(`${server.url}/runs/${encodeURIComponent(id)}/${path}`)
  await page.screenshot({ path: join(folder, `${name}.png`) })
  await page.context().close()
}
await browser.close()
await server.stop()
