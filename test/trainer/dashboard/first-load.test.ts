import { describe, expect, it } from 'vitest'
import { pageNames } from '../../../trainer/dashboard/page/router.ts'
import { firstLoad } from '../../support/first-load.ts'
import { sourceAssets } from '../../support/page-assets.ts'

describe('what a browser loads before a page is drawn', () => {
  it.each(['runs', ...pageNames])('of %s is less than 60 kB, compressed', async (page) => {
    const sizes = await firstLoad(page, sourceAssets())
    expect([...sizes.keys()]).toContain('dom.js')
    expect([...sizes.values()].reduce((sum, size) => sum + size, 0)).toBeLessThan(60_000)
  })
})
