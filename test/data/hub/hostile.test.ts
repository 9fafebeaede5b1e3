import { readdirSync } from 'node:fs'
import { assert as assertProperty, asyncProperty } from 'fast-check'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { PipelineError } from '../../../data/errors.ts'
import { fetchModel } from '../../../data/hub/model.ts'
import { hubSettings } from '../../../data/hub/settings.ts'
import { fakeServer, type Answer } from '../../support/fake-server.ts'
import { spoilt } from '../../support/spoilt.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

vi.setConfig({ testTimeout: 300_000 })

const info = { id: 'owner/model', _id: '1', sha: 'c'.repeat(40), private: false, gated: false, downloads: 1, likes: 1 }
const listing = [
  { type: 'file', path: 'config.json', size: 2, oid: '9e26dfeeb6e641a33dae4961196235bdb965b21b' },
  { type: 'file', path: 'model.safetensors', size: 1, oid: 'a'.repeat(40), lfs: { oid: 'b'.repeat(64), size: 1 } },
  { type: 'directory', path: 'more', size: 0, oid: 'd'.repeat(40) },
]

let server: Awaited<ReturnType<typeof fakeServer>>
let said: { readonly info: string; readonly listing: string }
beforeAll(async () => {
  server = await fakeServer(({ route }): Answer => {
    if (route.includes('/tree/')) return { text: said.listing }
    return route.includes('/api/models/') ? { text: said.info } : { text: '{}' }
  })
})
afterAll(() => server.close())

it('what a hub says of a repository is believed or refused, and no file comes from another place', async () => {
  const home = temporaryDirectory()
  const settings = hubSettings({ HF_ENDPOINT: server.url, HF_HOME: home })
  await assertProperty(
    asyncProperty(spoilt(info), spoilt(listing), async (spoiltInfo, spoiltListing) => {
      for (const reply of [
        { info: spoiltInfo, listing: JSON.stringify(listing) },
        { info: JSON.stringify(info), listing: spoiltListing },
      ]) {
        said = reply
        const error: Error | null = await fetchModel({ repo: 'owner/model', revision: 'main', settings }).then(
          () => null,
          (reason: Error) => reason,
        )
        expect(error === null || error instanceof PipelineError ? 'fine' : String(error)).toBe('fine')
        expect(readdirSync(home).filter((name) => name !== 'hub')).toEqual([])
      }
    }),
    { numRuns: 50 },
  )
})
