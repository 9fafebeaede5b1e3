import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { inputSchema, variantsOf, type JsonSchema } from '../../configs/json-schema.ts'
import { packageRoot } from '../../data/package-root.ts'
import { JudgeConfig } from '../../judge/config.ts'

const least = { kind: 'llm', baseUrl: 'http://127.0.0.1:8001/v1', model: 'judge' }
const read = (path: string): string => readFileSync(join(packageRoot(), path), 'utf8')

describe('the config of a judge that is asked', () => {
  it('needs an address and a model, and has a default for the rest', () => {
    expect(JudgeConfig.parse(least)).toMatchObject({
      ...{ temperature: 0, retries: 3, onOutage: 'pause', maxUnscored: 0.2 },
      ...{ cache: { dir: '.cache/judge' }, breaker: { failures: 5 } },
    })
  })

  it.each<[string, object]>([
    ['a temperature', { temperature: 0.5 }],
    ['two places for a key', { apiKeyEnv: 'KEY', apiKeyFile: 'key.txt' }],
    ['an address that is none', { baseUrl: 'localhost' }],
    ['an address of another kind', { baseUrl: 'ftp://127.0.0.1/v1' }],
    ['a share above 1', { maxUnscored: 1.5 }],
    ['an unknown key', { timeout: 3 }],
  ])('refuses %s', (_, change) => {
    expect(JudgeConfig.safeParse({ ...least, ...change }).success).toBe(false)
  })

  it('describes every key', () => {
    const llm = variantsOf(inputSchema(JudgeConfig)).find(({ properties }) => properties?.['kind']?.const === 'llm')
    const undescribed = (schema: JsonSchema, path: string): string[] =>
      Object.entries(schema.properties ?? {}).flatMap(([key, own]) => [
        ...(key === 'kind' || 'description' in own ? [] : [`${path}${key}`]),
        ...undescribed(own, `${path}${key}.`),
      ])
    expect(Object.keys(llm?.properties ?? {})).toContain('breaker')
    expect(undescribed(llm ?? {}, '')).toEqual([])
  })

  it('is what the documentation shows: its example loads and says every key', () => {
    // What is fixed, the other place of a key, and what docs/audit.md and docs/gpu.md are about, are left out.
    const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(read('docs/judge.md')) ?? []
    const { judge } = parse(example) as { judge: object }
    expect(JudgeConfig.parse(judge)).toMatchObject(judge)
    const defaults = JudgeConfig.parse(least)
    expect([...Object.keys(judge), 'temperature', 'apiKeyFile', 'audit', 'server'].toSorted()).toEqual(
      Object.keys(defaults).toSorted(),
    )
  })
})
