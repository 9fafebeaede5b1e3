import { appendFileSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { writeFileAtomic, writeJsonAtomic } from '../../../data/store/atomic.ts'
import { appendJsonl, readJsonl } from '../../../data/store/jsonl.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

let directory = ''
beforeEach(() => {
  directory = temporaryDirectory()
})

const collect = async (path: string): Promise<unknown[]> => {
  const records: unknown[] = []
  for await (const record of readJsonl(path)) records.push(record)
  return records
}

describe('append-only JSON lines', () => {
  test('come back in order, in new folders, with or without waiting for the disk', async () => {
    const path = join(directory, 'a/b.jsonl')
    await appendJsonl(path, [{ n: 1 }, { text: 'two\nlines\u2028' }])
    await appendJsonl(path, [{ n: 3 }], { sync: true })
    await appendJsonl(path, [])
    expect(await collect(path)).toEqual([{ n: 1 }, { text: 'two\nlines\u2028' }, { n: 3 }])
  })

  test('do not lose or mix lines of many writers', async () => {
    const path = join(directory, 'a.jsonl')
    const text = 'x'.repeat(5000)
    await Promise.all(Array.from({ length: 40 }, (_, n) => appendJsonl(path, [{ n, text }])))
    const records = await collect(path)
    expect(new Set(records.map((record) => JSON.stringify(record))).size).toBe(40)
  })

  test('leave out a torn last line, also one that would parse', async () => {
    const path = join(directory, 'a.jsonl')
    await appendJsonl(path, [{ n: 1 }])
    appendFileSync(path, '{"n":2}')
    expect(await collect(path)).toEqual([{ n: 1 }])
  })

  test('go on after a torn line without swallowing the next record', async () => {
    const path = join(directory, 'a.jsonl')
    await appendJsonl(path, [{ n: 1 }])
    appendFileSync(path, '{"n":2, "half')
    await appendJsonl(path, [{ n: 3 }])
    expect(await collect(path)).toEqual([{ n: 1 }, { n: 3 }])
  })

  test('survive a character that lies across two chunks', async () => {
    const path = join(directory, 'a.jsonl')
    const record = { text: 'é€😀'.repeat(100_000) }
    await appendJsonl(path, [record])
    expect(await collect(path)).toEqual([record])
  })
})

describe('atomic writes', () => {
  test('replace a file as a whole and leave nothing behind', async () => {
    const path = join(directory, 'new/file.txt')
    await writeFileAtomic(path, 'old')
    await writeFileAtomic(path, ['n', 'e', 'w'])
    expect(readFileSync(path, 'utf8')).toBe('new')
    expect(readdirSync(join(directory, 'new'))).toEqual(['file.txt'])
  })

  test('keep the old content when the new one fails half-way', async () => {
    const path = join(directory, 'file.txt')
    writeFileSync(path, 'old')
    const failing = (function* () {
      yield 'half'
      throw new Error('source broke')
    })()
    await expect(writeFileAtomic(path, failing)).rejects.toThrow('source broke')
    expect(readFileSync(path, 'utf8')).toBe('old')
    expect(readdirSync(directory)).toEqual(['file.txt'])
  })

  test('refuse a value that JSON cannot hold', async () => {
    await expect(writeJsonAtomic(join(directory, 'a.json'), undefined)).rejects.toThrow(TypeError)
    await writeJsonAtomic(join(directory, 'a.json'), { a: [1] })
    expect(JSON.parse(readFileSync(join(directory, 'a.json'), 'utf8'))).toEqual({ a: [1] })
  })
})
