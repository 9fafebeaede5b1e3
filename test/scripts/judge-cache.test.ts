import { open as openDatabase } from 'lmdb'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { VerdictStore } from '../../judge/cache/store.ts'
import type { CommandContext } from '../../scripts/command.ts'
import { judgeCacheCommand } from '../../scripts/commands/judge-cache.ts'
import { keyOf, verdictOf } from '../judge/cache/verdicts.ts'
import { runProgram } from '../support/run-program.ts'
import { temporaryDirectory } from '../support/tiny-training.ts'

const directory = temporaryDirectory()

/** Runs the command in this process, as the command line would. */
const run = async (action: string, { yes = false, json = false } = {}) => {
  const [data, progress]: [string[], string[]] = [[], []]
  const out = { data: (text: string) => data.push(text), progress: (text: string) => progress.push(text) }
  const args = { action, dir: directory, yes, json }
  const code = await judgeCacheCommand.run(args as never, { out, cwd: '/' } as unknown as CommandContext)
  return { code, stdout: data.join('\n'), stderr: progress.join('\n') }
}

beforeAll(async () => {
  const store = await VerdictStore.open(directory)
  await store.keep(keyOf(0), verdictOf(0))
  await store.keep(keyOf(100), verdictOf(100))
  await store.keep(keyOf(50), { ...verdictOf(50), node: 'n4' })
  await store.close()
})

describe('drift-grpo judge-cache', () => {
  it('counts, exports, checks and clears', async () => {
    const stats = await run('stats', { json: true })
    expect(JSON.parse(stats.stdout)).toMatchObject({
      records: 3,
      parts: [
        { model: 'judge', node: 'n1', verdicts: 2, meanScore: 0.5, tokens: 1920 },
        { node: 'n4', verdicts: 1, meanScore: 0.5 },
      ],
    })

    const exported = await run('export')
    const lines = exported.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { key: string; reason: string })
    expect(lines).toHaveLength(3)
    expect(lines.find(({ key }) => key === keyOf(100))).toEqual({ key: keyOf(100), ...verdictOf(100) })

    const raw = openDatabase<Buffer, Buffer>({ path: directory, encoding: 'binary', keyEncoding: 'binary' })
    await raw.put(Buffer.from(keyOf(0), 'hex'), Buffer.from('torn'))
    await raw.close()
    expect(await run('verify')).toMatchObject({ code: 10, stdout: keyOf(0) })

    await expect(run('clear')).rejects.toThrow('holds 3 verdicts, which would be paid for again')
    expect((await run('clear', { yes: true })).code).toBe(0)
    expect(JSON.parse((await run('verify', { json: true })).stdout)).toEqual({ records: 0, damaged: [] })
  })

  it('says where it found no cache, and makes none', async () => {
    const nowhere = join(temporaryDirectory(), 'none')
    const result = await runProgram('scripts/cli.ts', ['judge-cache', 'stats', '--dir', nowhere])
    expect(result).toMatchObject({ code: 2, stdout: '' })
    expect(result.stderr).toContain('there is no verdict cache in')
    expect(VerdictStore.exists(nowhere)).toBe(false)
  })
})
