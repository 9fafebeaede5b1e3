import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../configs/load.ts'
import { packageRoot } from '../../data/package-root.ts'
import { engineDirectory, withJudgeEngine } from '../../scripts/judge-engine.ts'
import { freePort } from '../../trainer/vllm/free-port.ts'
import { temporaryDirectory } from '../support/tiny-training.ts'

const configWith = async (server: string) => {
  const baseUrl = `http://127.0.0.1:${await freePort()}/v1`
  const sets = [`judge={kind: llm, baseUrl: "${baseUrl}", model: grader, server: ${server}}`]
  const { config } = await loadConfig({ name: 'tiny.yaml', sets, cwd: packageRoot() })
  return { config, baseUrl }
}

const fake = JSON.stringify(join(packageRoot(), 'test/support/fake-vllm.mjs'))
const model = JSON.stringify(join(packageRoot(), 'data/tiny-base'))

/** Ids that a judge's server offers; null where nobody answers. */
const served = async (baseUrl: string): Promise<string[] | null> => {
  const reply = await fetch(`${baseUrl}/models`).catch(() => null)
  return reply === null ? null : ((await reply.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
}

describe('the judge’s own server', () => {
  it('runs while it is needed, on record, and no longer', async () => {
    const cwd = temporaryDirectory()
    const { config, baseUrl } = await configWith(`{path: ${model}, command: ${fake}}`)
    const surroundings = { cwd, env: {}, signal: new AbortController().signal }
    const records = join(cwd, engineDirectory, 'processes')
    const result = await withJudgeEngine(
      config,
      surroundings,
      () => undefined,
      async () => {
        expect(readdirSync(records)).toHaveLength(1)
        return await served(baseUrl)
      },
    )
    expect(result).toEqual(['grader'])
    expect(readdirSync(records)).toEqual([])
    expect(await served(baseUrl)).toBeNull()
  })

  it('is ended also when what needed it fails', async () => {
    const { config, baseUrl } = await configWith(`{path: ${model}, command: ${fake}}`)
    const surroundings = { cwd: temporaryDirectory(), env: {}, signal: new AbortController().signal }
    const failing = withJudgeEngine(
      config,
      surroundings,
      () => undefined,
      () => Promise.reject(new Error('no verdict')),
    )
    await expect(failing).rejects.toThrow('no verdict')
    expect(await served(baseUrl)).toBeNull()
  })

  it('is none where the config starts none', async () => {
    const { config } = await configWith('null')
    const surroundings = { cwd: temporaryDirectory(), env: {}, signal: new AbortController().signal }
    expect(
      await withJudgeEngine(
        config,
        surroundings,
        () => undefined,
        async () => 'done',
      ),
    ).toBe('done')
  })
})
