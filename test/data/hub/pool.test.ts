import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { PoolConfig } from '../../../data/pool/config.ts'
import { openPool } from '../../../data/pool/open.ts'
import { hubServer, type HubServerOptions } from '../../support/hub-server.ts'
import { shortPool, shortPrompt, temporaryDirectory } from '../../support/tiny-training.ts'

const repo = 'owner/pool'
const prompts = [...shortPool(5, 0), shortPrompt(0, 'heldout', 'ask 0'), shortPrompt(1, 'heldout', 'ask 1')]
const poolText = prompts
  .map((prompt) => ({ ...prompt, id: undefined, origin: { ...prompt.origin, trajectoryIds: [prompt.split] } }))
  .map((prompt) => `${JSON.stringify(prompt)}\n`)
  .join('')

const open: { close: () => Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})
const serve = async (changes: Partial<HubServerOptions> = {}) => {
  const files = { 'pool.jsonl': poolText, 'README.md': '# pool', 'report.json': '{}' }
  const server = await hubServer({ repo, commit: 'e'.repeat(40), files, type: 'dataset', ...changes })
  open.push(server)
  return { server, env: { HF_ENDPOINT: server.url, HF_HOME: temporaryDirectory(), PATH: '' } }
}
const config = PoolConfig.parse({ kind: 'hub', repo })
const ids = ({ train, heldout }: Awaited<ReturnType<typeof openPool>>): string[] =>
  [...train, ...heldout].map(({ id }) => id)

describe('a pool of the hub', () => {
  it('is fetched by name, and then read from the cache, also offline', async () => {
    const { server, env } = await serve()
    const said: string[] = []
    const found = await openPool(config, 0, { env, onProgress: (text) => void said.push(text) })
    expect([found.train.length, found.heldout.length]).toEqual([5, 2])
    expect(said.join('\n')).toContain('fetching owner/pool/pool.jsonl')
    const asked = server.requests.length
    expect(ids(await openPool(config, 0, { env: { ...env, HF_HUB_OFFLINE: '1' } }))).toEqual(ids(found))
    expect(server.requests.length).toBe(asked)
  })

  it('that is damaged in the cache is fetched anew, and refused offline', async () => {
    const { env } = await serve()
    await openPool(config, 0, { env })
    const file = join(env.HF_HOME, 'hub/datasets--owner--pool/snapshots', 'e'.repeat(40), 'pool.jsonl')
    writeFileSync(realpathSync(file), poolText.replace('say 1', 'say 7'))
    await expect(openPool(config, 0, { env: { ...env, HF_HUB_OFFLINE: '1' } })).rejects.toThrow('damaged in the cache')
    await openPool(config, 0, { env })
    expect(readFileSync(file, 'utf8')).toBe(poolText)
  })

  it('that arrives damaged is refused', async () => {
    const { env } = await serve({ spoilt: { 'pool.jsonl': poolText.replace('say 1', 'say 7') } })
    await expect(openPool(config, 0, { env })).rejects.toThrow('arrived damaged')
  })

  it('that has no pool.jsonl says so', async () => {
    const { env } = await serve({ files: { 'README.md': '' } })
    await expect(openPool(config, 0, { env })).rejects.toThrow('the dataset owner/pool@main has no pool.jsonl')
  })

  it('needs a name of the hub', () => {
    const bad = ['pool', 'a/b/c', '../b', 'a/b--c', 'a/-b', '/b', 'a/b..c', `a/${'x'.repeat(97)}`]
    const isAllowed = (name: string): boolean => PoolConfig.safeParse({ kind: 'hub', repo: name }).success
    expect(bad.filter(isAllowed)).toEqual([])
  })
})
