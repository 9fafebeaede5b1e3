import { gzipSync } from 'node:zlib'
import { installedAssets, type Assets } from '../../trainer/dashboard/assets.ts'

/**
 * Files that a browser loads before a page is drawn, with their sizes in bytes, gzip.
 * @param scripts where the page's scripts come from
 */
export const firstLoad = async (page: string, scripts: Assets): Promise<Map<string, number>> => {
  const sizes = new Map<string, number>()
  const load = async (name: string): Promise<void> => {
    if (sizes.has(name)) return
    const asset = await (name.endsWith('.js') ? scripts : installedAssets())(name)
    if (asset === null) throw new Error(`there is no ${name}`)
    sizes.set(name, gzipSync(asset.body).length)
    for (const [, other = ''] of asset.body.matchAll(/from ['"]\.\/([\w-]+\.js)['"]/g)) await load(other)
  }
  for (const name of ['main.js', `page-${page}.js`, 'style.css', 'icon.svg']) await load(name)
  return sizes
}
