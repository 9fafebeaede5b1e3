import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { JsonlTail } from '../../../trainer/dashboard/jsonl-tail.ts'
import { seriesOf, type MetricsRow } from '../../../trainer/dashboard/series.ts'

const row = (attempt: number, step: number, reward: number | null): MetricsRow => ({ attempt, step, at: '', reward })

describe('steps of several attempts', () => {
  it('lets a later attempt win from its first step on, and keeps what it did again', () => {
    const rows = [row(1, 0, 0), row(1, 1, 1), row(1, 2, 2), row(2, 1, 11), row(2, 2, 12)]
    const { current, superseded } = seriesOf(rows, ['reward'])
    expect(current.steps).toEqual([0, 1, 2])
    expect(current.attempts).toEqual([1, 2, 2])
    expect(current.values['reward']).toEqual([0, 11, 12])
    expect(superseded.map(({ values }) => values['reward'])).toEqual([[1, 2]])
  })
  it('gives every key that begins as asked, and a gap where a step has none', () => {
    const rows = [row(1, 0, null), { ...row(1, 1, 2), 'time/sample': 3 }]
    const { current } = seriesOf(rows, ['reward', 'time/*'])
    expect(current.values).toEqual({ reward: [null, 2], 'time/sample': [null, 3] })
  })
})

describe('following a file that grows', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drift-grpo-tail-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('reads only what is new, waits for the end of a torn line, and skips what is no JSON', async () => {
    const path = join(folder, 'a.jsonl')
    const tail = new JsonlTail(path)
    expect(await tail.read()).toEqual({ restarted: false, records: [] })
    await writeFile(path, '{"a":1}\n{"a":')
    expect((await tail.read()).records).toEqual([{ a: 1 }])
    await appendFile(path, '"é"}\nnot json\n')
    expect((await tail.read()).records).toEqual([{ a: 'é' }])
    expect(tail.unreadable).toBe(1)
  })
  it('begins anew when the file was cut', async () => {
    const path = join(folder, 'b.jsonl')
    const tail = new JsonlTail(path)
    await writeFile(path, '{"a":1}\n{"a":2}\n')
    await tail.read()
    await writeFile(path, '{"a":3}\n')
    expect(await tail.read()).toEqual({ restarted: true, records: [{ a: 3 }] })
  })
})
