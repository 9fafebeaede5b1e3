import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../configs/load.ts'
import { fetchModel } from '../../data/hub/model.ts'
import { hubSettings } from '../../data/hub/settings.ts'
import { dashboardApp, makeRuns } from '../support/dashboard.ts'
import { filesBelow } from '../support/files-below.ts'
import { hubServer } from '../support/hub-server.ts'
import { runInProcess } from '../support/in-process-cli.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const cleanUp: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await Promise.all(cleanUp.splice(0).map((act) => act()))
})

describe('the name of a run', () => {
  const hostile = ['../x', '/x', 'a/b', '..', '.', '.hidden', String.raw`a\b`, 'a\0b', 'a\nb', '', 'x'.repeat(81), 'ä']
  it.each(hostile)('is never a path: %j is refused', async (id) => {
    const cwd = temporaryDirectory()
    writeFileSync(join(cwd, 'mine.yaml'), `run:\n  id: ${JSON.stringify(id)}\n`)
    await expect(loadConfig({ name: 'mine.yaml', sets: [], cwd })).rejects.toMatchObject({
      boundary: 'config',
      message: expect.stringContaining('run.id') as string,
    })
  })

  it.each(['../x', 'a/b', '..', 'final', 'step-000001', '/x'])('of an evaluation neither: %j', async (name) => {
    const cwd = temporaryDirectory()
    const { code } = await runInProcess(['eval', '--run', 'mine', '--name', name], cwd)
    expect([2, 3]).toContain(code)
    expect(readdirSync(cwd)).toEqual([])
  })
})

describe('a hostile repository of the hub', () => {
  const names = ['../config.json', 'a/../../config.json', '/config.json', String.raw`..\config.json`, 'c:config.json']
  it.each(names)('places no file outside of its snapshot: %j', async (name) => {
    const home = temporaryDirectory()
    const server = await hubServer({
      ...{ repo: 'owner/model', commit: 'c'.repeat(40) },
      files: { [name]: '{}', 'config.json': '{}', 'model.safetensors': 'w', 'tokenizer.json': '{}' },
    })
    cleanUp.push(() => server.close())
    const settings = hubSettings({ HF_ENDPOINT: server.url, HF_HOME: home })
    const fetched = await fetchModel({ repo: 'owner/model', revision: 'main', settings }).then(
      () => 'without it',
      (error: Error) => error.message,
    )
    expect(fetched).toMatch(/^without it$|lists a file that cannot be checked or placed/)
    const cache = join(settings.cacheDir, 'models--owner--model')
    const outside = filesBelow(home).filter((file) => !file.startsWith(join(cache, '/')))
    expect(outside).toEqual([])
    expect(existsSync(join(cache, 'snapshots/config.json'))).toBe(false)
  })
})

describe('a run that somebody sent, with links in it', () => {
  const secret = 'what-is-in-a-file-elsewhere'
  const setUp = async (file: string) => {
    const { directory, run, remove } = await makeRuns()
    cleanUp.push(remove)
    const elsewhere = temporaryDirectory()
    mkdirSync(join(elsewhere, 'folder'))
    const at = join(run, file)
    const link = (target: string): void => {
      if (existsSync(at)) renameSync(at, `${target}.before`)
      symlinkSync(target, at)
    }
    return { directory, run, elsewhere, link, app: dashboardApp(directory) }
  }
  const texts = (app: ReturnType<typeof dashboardApp>): Promise<string[]> =>
    Promise.all(
      ['', '/mine', '/mine/rollouts', '/mine/evaluations', '/mine/series?keys=reward', '/mine/nodes'].map(
        async (path) => {
          const response = await app.request(`http://localhost/api/runs${path}`)
          expect(response.status).not.toBe(500)
          return await response.text()
        },
      ),
    )

  it.each([
    'config.resolved.json',
    'metrics.jsonl',
    'events.jsonl',
    'meta.json',
    'pool.jsonl',
    'rollouts/step-000009.jsonl',
  ])('shows nothing of what %s leads to', async (file) => {
    const { app, elsewhere, link } = await setUp(file)
    writeFileSync(join(elsewhere, 'file'), `{"secret": "${secret}", "step": 0, "reward": 1}\n`)
    link(join(elsewhere, 'file'))
    const all = (await texts(app)).join('\n')
    expect(all).not.toContain(secret)
    expect(all).toContain('is a link that leads out of the run')
    expect(all).toContain('"state":"unreadable"')
  })

  it.each(['rollouts', 'eval', 'eval/other', 'audit'])('shows nothing of a folder that %s leads to', async (file) => {
    const { app, elsewhere, link } = await setUp(file)
    link(join(elsewhere, 'folder'))
    expect((await texts(app)).join('\n')).toContain('is a link that leads out of the run')
  })

  it('is shown where its links stay inside, lead nowhere, or are what is never read', async () => {
    const { app, run, elsewhere } = await setUp('x')
    symlinkSync('metrics.jsonl', join(run, 'attempts.jsonl'))
    symlinkSync(join(elsewhere, 'nothing'), join(run, 'events.jsonl'))
    symlinkSync(join(elsewhere, 'folder'), join(run, 'checkpoints'))
    const response = await app.request('http://localhost/api/runs/mine')
    expect(response.status).toBe(200)
    await rm(join(run, 'checkpoints'))
  })
})
