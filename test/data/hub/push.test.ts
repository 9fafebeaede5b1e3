import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { tokenIdentity } from '../../../data/hub/identity.ts'
import { push } from '../../../data/hub/push.ts'
import { hubSettings, type HubSettings } from '../../../data/hub/settings.ts'
import { hubServer, type HubServerOptions } from '../../support/hub-server.ts'
import { temporaryDirectory } from '../../support/tiny-training.ts'

const name = 'owner/adapter'
const commit = 'd'.repeat(40)
const token = 'hf_secret_of_this_test'

const open: { close: () => Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})
const serve = async (changes: Partial<HubServerOptions> = {}) => {
  const server = await hubServer({ repo: name, commit, files: { '.gitattributes': '' }, token, ...changes })
  open.push(server)
  return { server, settings: hubSettings({ HF_ENDPOINT: server.url, HF_TOKEN: token, HF_HOME: temporaryDirectory() }) }
}

const weights = 'w'.repeat(500_000)
const pushTo = (settings: HubSettings, changes: Partial<Parameters<typeof push>[0]> = {}) => {
  const file = join(temporaryDirectory(), 'weights')
  writeFileSync(file, weights)
  return push({
    ...{ settings, repo: { type: 'model', name }, title: 'An adapter', isPrivate: false },
    files: [
      { path: 'README.md', text: '# card' },
      { path: 'adapter_model.safetensors', file },
    ],
    ...changes,
  })
}
const posted = (requests: readonly { path: string; method: string }[], part: RegExp): number =>
  requests.filter(({ path, method }) => method !== 'GET' && part.test(path)).length

describe('a push', () => {
  it('makes the repository, sends large files by their checksum, and all in one commit', async () => {
    const { server, settings } = await serve({ isMissing: true })
    const said: string[] = []
    const pushed = await pushTo(settings, { onProgress: (text) => void said.push(text) })
    expect(pushed).toEqual({ url: `${server.url}/${name}`, commit, created: true })
    expect(server.contents()).toMatchObject({ 'README.md': '# card', 'adapter_model.safetensors': weights })
    expect(server.state.commits).toHaveLength(1)
    expect(server.state.commits[0]).toContain('"summary":"An adapter"')
    expect(server.state.isPrivate).toBe(false)
    expect(said.join('\n')).toMatch(/made model repository owner\/adapter\npushing 2 files/)
  })

  it('into a repository that is there makes none', async () => {
    const { server, settings } = await serve()
    expect((await pushTo(settings)).created).toBe(false)
    expect(posted(server.requests, /repos\/create/)).toBe(0)
  })

  it('finds a dataset at its own address', async () => {
    const { server, settings } = await serve({ type: 'dataset', isMissing: true })
    const { url } = await pushTo(settings, { repo: { type: 'dataset', name } })
    expect(url).toBe(`${server.url}/datasets/${name}`)
  })

  it('that must be private makes a private repository, and sends nothing into a public one', async () => {
    const { server, settings } = await serve({ isMissing: true })
    await pushTo(settings, { isPrivate: true })
    expect(server.state.isPrivate).toBe(true)
    const shown = await serve()
    await expect(pushTo(shown.settings, { isPrivate: true })).rejects.toMatchObject({
      boundary: 'usage',
      message: expect.stringContaining('exists and is public') as unknown,
    })
    expect(shown.server.state.commits).toEqual([])
  })

  it('without a token, or offline, asks nobody', async () => {
    const { server, settings } = await serve()
    await expect(pushTo({ ...settings, token: null })).rejects.toThrow('there is no token')
    await expect(pushTo({ ...settings, offline: true })).rejects.toThrow('HF_HUB_OFFLINE')
    expect(server.requests).toEqual([])
  })

  it('goes on when somebody made the repository meanwhile (409)', async () => {
    const gone = { at: /GET .*revision/, with: { status: 404, error: 'not yet' } }
    const { settings } = await serve({ faults: [gone] })
    expect((await pushTo(settings)).created).toBe(false)
  })

  it('waits as long as the hub asks for (429, 503), then goes on', async () => {
    const busy = (at: RegExp, status: number) => ({
      at,
      with: { status, headers: { 'retry-after': '0' }, error: 'slow' },
    })
    const { server, settings } = await serve({
      faults: [busy(/revision/, 429), busy(/preupload/, 503), busy(/PUT/, 503), busy(/commit/, 429)],
    })
    const said: string[] = []
    await pushTo(settings, { onProgress: (text) => void said.push(text) })
    expect(said.filter((text) => text.includes('trying again in 0 s'))).toHaveLength(4)
    expect(server.state.commits).toHaveLength(1)
  })

  it('gives up where the hub asks for more patience than anybody has', async () => {
    const limited = { status: 429, headers: { 'retry-after': '3600' }, error: 'come back in an hour' }
    const { settings } = await serve({ faults: [{ at: /preupload/, with: limited }] })
    await expect(pushTo(settings)).rejects.toMatchObject({
      message: expect.stringContaining('come back in an hour') as unknown,
      remedy: expect.stringContaining('limits how often') as unknown,
      retryable: true,
    })
  })

  it('sends a file again when the connection breaks in the middle of it', async () => {
    const { server, settings } = await serve({ faults: [{ at: /PUT/, with: 'reset' }] })
    await pushTo(settings)
    expect(posted(server.requests, /store/)).toBe(2)
    expect(server.contents()['adapter_model.safetensors']).toBe(weights)
  })

  it('never makes a commit twice: one whose answer was lost is reported', async () => {
    const { server, settings } = await serve({ faults: [{ at: /commit/, with: 'reset' }] })
    await expect(pushTo(settings)).rejects.toMatchObject({
      remedy: expect.stringContaining('push again: what arrived already is not sent twice') as unknown,
    })
    expect(posted(server.requests, /commit/)).toBe(1)
    await pushTo(settings)
    expect(posted(server.requests, /store/)).toBe(1)
  })

  it.each([500, 502, 504])(
    'never makes a commit twice: one that a gateway answers with %i is not sent again',
    async (status) => {
      const lost = { status, headers: { 'retry-after': '0' }, error: 'lost' }
      const { server, settings } = await serve({ faults: [{ at: /commit/, with: lost }] })
      await expect(pushTo(settings)).rejects.toThrow('lost')
      expect(posted(server.requests, /commit/)).toBe(1)
    },
  )

  it('of content that is changed on the way is refused by the store, and nothing is committed', async () => {
    const { server, settings } = await serve({ spoilsUploads: true })
    await expect(pushTo(settings)).rejects.toThrow('BadDigest')
    expect(server.state.commits).toEqual([])
  })

  it.each([
    [403, 'The token may not write there'],
    [409, 'push again'],
    [500, 'The hub itself has a fault'],
  ])('that is refused with %i says what to do', async (status, remedy) => {
    const refusal = { status, headers: { 'retry-after': '3600' }, error: 'no' }
    const { settings } = await serve({ faults: [{ at: /commit/, with: refusal }] })
    await expect(pushTo(settings)).rejects.toMatchObject({ remedy: expect.stringContaining(remedy) as unknown })
  })

  it('with a token that is refused (401) does not show it', async () => {
    const { settings } = await serve({ token: 'hf_another' })
    const error = await pushTo(settings).catch((reason: unknown) => reason as Error)
    expect(error).toMatchObject({ boundary: 'setup', remedy: expect.stringContaining('HF_TOKEN') as unknown })
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(token)
  })

  it('to an owner that is not there (404) says so', async () => {
    const missing = { status: 404, error: 'Not Found' }
    const { settings } = await serve({ isMissing: true, faults: [{ at: /create/, with: missing }] })
    await expect(pushTo(settings)).rejects.toMatchObject({
      remedy: expect.stringContaining('owner does not') as unknown,
    })
  })
})

describe('a token', () => {
  const ask = async (whoami: unknown) => {
    const { settings } = await serve({ whoami })
    return await tokenIdentity({ settings, token })
  }
  const orgs = [{ name: 'lab' }]
  it.each([
    [{ role: 'read' }, { role: 'read', writable: [] }],
    [{ role: 'write' }, { role: 'write', writable: ['ana', 'lab'] }],
    [
      {
        role: 'fineGrained',
        fineGrained: {
          scoped: [
            { entity: { type: 'user', name: 'ana' }, permissions: ['repo.content.read'] },
            { entity: { type: 'org', name: 'lab' }, permissions: ['repo.content.read', 'repo.write'] },
          ],
        },
      },
      { role: 'fine-grained', writable: ['lab'] },
    ],
    [{ role: 'god' }, { role: 'unknown', writable: null }],
  ])('%j may do what the hub says', async (accessToken, expected) => {
    expect(await ask({ type: 'user', name: 'ana', orgs, auth: { accessToken } })).toEqual({ name: 'ana', ...expected })
  })
})
