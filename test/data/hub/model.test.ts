import { existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { fetchModel, probeModel } from '../../../data/hub/model.ts'
import { hubSettings, type HubSettings } from '../../../data/hub/settings.ts'
import { hubServer } from '../../support/hub-server.ts'
import { temporaryDirectory } from '../../support/tiny-training.ts'

const repo = 'owner/model'
const commit = 'c'.repeat(40)
const files = {
  'config.json': '{"model_type": "llama"}',
  'model.safetensors': 'w'.repeat(300_000),
  'tokenizer.json': '{}',
  'pytorch_model.bin': 'not wanted',
}
const token = 'hf_secret_of_this_test'

const open: { close: () => Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})
const serve = async (changes: Partial<Parameters<typeof hubServer>[0]> = {}) => {
  const server = await hubServer({ repo, commit, files, token, ...changes })
  open.push(server)
  const env = { HF_ENDPOINT: server.url, HF_TOKEN: token, HF_HOME: temporaryDirectory() }
  return { server, settings: hubSettings(env), env }
}
const fetchFrom = (settings: HubSettings, revision = 'main', onProgress?: (text: string) => void): Promise<string> =>
  fetchModel({ repo, revision, settings, onProgress })
const downloads = (requests: readonly { path: string }[]): number =>
  requests.filter(({ path }) => path.includes('/resolve/')).length

describe('a model of the hub', () => {
  it('is fetched once into the cache that other clients share, without other frameworks’ weights', async () => {
    const { server, settings } = await serve()
    const said: string[] = []
    const directory = await fetchFrom(settings, 'main', (text) => void said.push(text))
    expect(directory).toBe(join(settings.cacheDir, 'models--owner--model', 'snapshots', commit))
    expect(readdirSync(directory).toSorted()).toEqual(['config.json', 'model.safetensors', 'tokenizer.json'])
    expect(readFileSync(join(directory, 'model.safetensors'), 'utf8')).toBe(files['model.safetensors'])
    expect(readFileSync(join(settings.cacheDir, 'models--owner--model', 'refs', 'main'), 'utf8')).toBe(commit)
    expect(said.join('\n')).toContain('fetching owner/model/model.safetensors')
    const before = downloads(server.requests)
    expect(await fetchFrom(settings)).toBe(directory)
    expect(downloads(server.requests)).toBe(before)
  })

  it('is found without the hub when it must be, and only then', async () => {
    const { server, settings } = await serve()
    const offline = { ...settings, offline: true }
    await expect(fetchFrom(offline)).rejects.toThrow('owner/model@main is not in the cache, and HF_HUB_OFFLINE forbids')
    await expect(probeModel({ repo, revision: 'main', settings: offline })).rejects.toThrow('not in the cache')
    const directory = await fetchFrom(settings)
    const before = server.requests.length
    expect(await fetchFrom(offline)).toBe(directory)
    expect(await fetchFrom(offline, commit)).toBe(directory)
    expect(await probeModel({ repo, revision: 'main', settings: offline })).toBe('cached')
    expect(server.requests.length).toBe(before)
  })

  it('that arrives damaged is refused, and nothing of it stays', async () => {
    const { settings } = await serve({ spoilt: { 'model.safetensors': 'x'.repeat(300_000) } })
    await expect(fetchFrom(settings)).rejects.toThrow('owner/model/model.safetensors arrived damaged')
    const blobs = join(settings.cacheDir, 'models--owner--model', 'blobs')
    expect(readdirSync(blobs).filter((name) => name.length === 64 || name.includes('incomplete'))).toEqual([])
    await expect(fetchFrom({ ...settings, offline: true })).rejects.toThrow('not in the cache')
  })

  it('that is damaged in the cache is fetched anew, and refused offline', async () => {
    const { settings } = await serve()
    const file = join(await fetchFrom(settings), 'model.safetensors')
    writeFileSync(realpathSync(file), 'y'.repeat(300_000))
    await expect(fetchFrom({ ...settings, offline: true })).rejects.toThrow('damaged in the cache: model.safetensors')
    await fetchFrom(settings)
    expect(readFileSync(file, 'utf8')).toBe(files['model.safetensors'])
  })

  it('cannot place a file outside of its directory', async () => {
    const { settings } = await serve({ files: { ...files, '..\\..\\evil.json': '{}' } })
    await expect(fetchFrom(settings)).rejects.toThrow('cannot be checked or placed')
  })

  it('is not given without the right token; the token is in no message', async () => {
    const { settings } = await serve({ token: 'hf_another' })
    const error = await fetchFrom(settings).catch((reason: unknown) => reason as Error & { remedy: string })
    expect(error).toMatchObject({ boundary: 'setup', remedy: expect.stringContaining('HF_TOKEN') as unknown })
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(token)
  })

  it('that does not exist, or a hub that is not there, is said with what to do', async () => {
    const { server, settings } = await serve()
    await expect(fetchModel({ repo: 'owner/other', revision: 'main', settings })).rejects.toMatchObject({
      remedy: 'Correct the name or the revision.',
    })
    await server.close()
    open.length = 0
    await expect(fetchFrom(settings)).rejects.toMatchObject({
      message: expect.stringContaining('ECONNREFUSED') as unknown,
      remedy: expect.stringContaining('HF_ENDPOINT') as unknown,
    })
  })

  it('can be given up', async () => {
    const { settings } = await serve()
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(fetchModel({ repo, revision: 'main', settings, signal })).rejects.toThrow('enough')
  })
})

describe('the settings of the hub', () => {
  it('come from the variables that its clients share', () => {
    const home = temporaryDirectory()
    writeFileSync(join(home, 'token'), 'hf_from_file\n')
    expect(hubSettings({ HF_HOME: home, HF_ENDPOINT: 'http://h/' })).toEqual({
      url: 'http://h',
      token: 'hf_from_file',
      cacheDir: join(home, 'hub'),
      offline: false,
    })
    const set = { HF_HOME: home, HF_TOKEN: 'hf_set', HF_HUB_CACHE: '/c', HF_HUB_OFFLINE: 'TRUE' }
    expect(hubSettings(set)).toMatchObject({ token: 'hf_set', cacheDir: '/c', offline: true })
    expect(existsSync(join(home, 'hub'))).toBe(false)
    expect(hubSettings({ HF_HOME: join(home, 'none') }).token).toBeNull()
  })
})
