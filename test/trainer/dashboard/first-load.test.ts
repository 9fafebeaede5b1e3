import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { installedAssets } from '../../../trainer/dashboard/assets.ts'
import { pageNames } from '../../../trainer/dashboard/page/router.ts'
import { sourceAssets } from '../../support/page-assets.ts'

const bytesOf = async (name: string): Promise<readonly [size: number, text: string]> => {
  const asset = await (name.endsWith('.js') ? sourceAssets() : installedAssets())(name)
  if (asset === null) throw new Error(`there is no ${name}`)
  return [gzipSync(asset.body).length, asset.body]
}

/** Compressed sizes of what a script needs before it runs, itself included. */
const loadedWith = async (name: string, sizes = new Map<string, number>()): Promise<Map<string, number>> => {
  if (sizes.has(name)) return sizes
  const [size, text] = await bytesOf(name)
  sizes.set(name, size)
  for (const [, other = ''] of text.matchAll(/from ['"]\.\/([\w-]+\.js)['"]/g)) await loadedWith(other, sizes)
  return sizes
}

describe('what a browser loads before a page is drawn', () => {
  it.each(['runs', ...pageNames])('of %s is less than 60 kB, compressed', async (page) => {
    const sizes = await loadedWith(`page-${page}.js`, await loadedWith('main.js'))
    for (const name of ['style.css', 'icon.svg']) sizes.set(name, (await bytesOf(name))[0])
    expect([...sizes.keys()]).toContain('dom.js')
    expect([...sizes.values()].reduce((sum, size) => sum + size, 0)).toBeLessThan(60_000)
  })
})
