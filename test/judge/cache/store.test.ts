import { open as openDatabase } from 'lmdb'
import { statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert as assertProperty, nat, property, uint8Array } from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { VerdictCache } from '../../../judge/cache/cache.ts'
import { decodeEntry, encodeEntry } from '../../../judge/cache/entry.ts'
import { VerdictStore } from '../../../judge/cache/store.ts'
import { JudgeError } from '../../../judge/judge.ts'
import { temporaryDirectory } from '../../support/tiny-training.ts'
import { keyOf, verdictOf } from './verdicts.ts'

const openStore = async (directory = temporaryDirectory()): Promise<VerdictStore> => {
  const store = await VerdictStore.open(directory)
  onTestFinished(() => store.close())
  return store
}

describe('an entry', () => {
  it('is read back as it was written, under its own key only', () => {
    const bytes = encodeEntry(keyOf(1), verdictOf(1))
    expect(decodeEntry(keyOf(1), bytes)).toEqual(verdictOf(1))
    expect(decodeEntry(keyOf(2), bytes)).toBeNull()
  })

  it('is nothing when any of its bits has changed, or its end is missing', () => {
    const bytes = encodeEntry(keyOf(1), verdictOf(1))
    assertProperty(
      property(nat(bytes.length * 8 - 1), (bit) => {
        const torn = Buffer.from(bytes)
        torn.writeUInt8(torn.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
        return decodeEntry(keyOf(1), torn) === null
      }),
    )
    assertProperty(property(nat(bytes.length - 1), (size) => decodeEntry(keyOf(1), bytes.subarray(0, size)) === null))
    assertProperty(property(uint8Array(), (any) => decodeEntry(keyOf(1), Buffer.from(any)) === null))
  })
})

describe('the store', () => {
  it('survives being closed', async () => {
    const directory = temporaryDirectory()
    expect(VerdictStore.exists(directory)).toBe(false)
    const store = await VerdictStore.open(directory)
    await store.keep(keyOf(1), verdictOf(1))
    await store.close()
    expect(VerdictStore.exists(directory)).toBe(true)
    expect((await openStore(directory)).get(keyOf(1))).toEqual(verdictOf(1))
  })

  it('keeps the first verdict on a question, and says which one that is', async () => {
    const store = await openStore()
    expect(await store.keep(keyOf(1), verdictOf(1, 'a'))).toEqual(verdictOf(1, 'a'))
    expect(await store.keep(keyOf(1), verdictOf(1, 'b'))).toEqual(verdictOf(1, 'a'))
    expect(store.size).toBe(1)
  })

  it('takes a damaged record for none, shows it, and replaces it', async () => {
    const directory = temporaryDirectory()
    const raw = openDatabase<Buffer, Buffer>({ path: directory, encoding: 'binary', keyEncoding: 'binary' })
    const bytes = encodeEntry(keyOf(1), verdictOf(1))
    await raw.put(Buffer.from(keyOf(1), 'hex'), bytes.subarray(0, bytes.length - 3))
    await raw.close()
    const store = await openStore(directory)
    expect(store.get(keyOf(1))).toBeNull()
    expect([...store.entries()]).toEqual([{ key: keyOf(1), verdict: null }])
    await store.keep(keyOf(1), verdictOf(1))
    expect(store.get(keyOf(1))).toEqual(verdictOf(1))
  })

  it('forgets everything when it is cleared', async () => {
    const store = await openStore()
    await Promise.all([1, 2, 3].map((n) => store.keep(keyOf(n), verdictOf(n))))
    await store.clear()
    expect([store.size, store.get(keyOf(2))]).toEqual([0, null])
    await store.keep(keyOf(2), verdictOf(2))
    expect(store.size).toBe(1)
  })

  it.each<[string, (file: string) => void, RegExp]>([
    ['is something else', (file) => writeFileSync(file, 'no database'.repeat(1000)), /is not a verdict cache/],
    ['is only the beginning of something', (file) => writeFileSync(file, 'no'), /is not a verdict cache/],
    ['was cut off', (file) => truncateSync(file, statSync(file).size / 2), /was cut off: it has \d+ of \d+ bytes/],
  ])('refuses a file that %s, by name', async (_, damage, message) => {
    const directory = temporaryDirectory()
    const store = await VerdictStore.open(directory)
    await Promise.all(Array.from({ length: 200 }, (__, n) => store.keep(keyOf(n), verdictOf(n))))
    await store.close()
    damage(join(directory, 'data.mdb'))
    const opening = VerdictStore.open(directory)
    await expect(opening).rejects.toBeInstanceOf(JudgeError)
    await expect(opening).rejects.toThrow(message)
  })

  it('makes a new database of an empty file', async () => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, 'data.mdb'), '')
    expect((await openStore(directory)).size).toBe(0)
  })

  it('refuses a place where no directory can be', async () => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, 'file'), '')
    await expect(VerdictStore.open(join(directory, 'file/cache'))).rejects.toBeInstanceOf(JudgeError)
  })
})

describe('the two tiers', () => {
  it('find in memory what was just kept, and on disk what memory has let go', async () => {
    const store = await openStore()
    const cache = new VerdictCache(2, store, () => undefined)
    for (const n of [1, 2, 3]) await cache.keep(keyOf(n), verdictOf(n))
    expect(cache.find(keyOf(3))).toEqual({ verdict: verdictOf(3), tier: 'memory' })
    expect(cache.find(keyOf(1))).toEqual({ verdict: verdictOf(1), tier: 'disk' })
    expect(cache.find(keyOf(1))?.tier).toBe('memory')
    expect(cache.find(keyOf(4))).toBeNull()
  })

  it('give the verdict all the same when the disk cannot take it, and say so', async () => {
    const store = await VerdictStore.open(temporaryDirectory())
    await store.close()
    const failures: Error[] = []
    const cache = new VerdictCache(2, store, (error) => failures.push(error))
    expect(await cache.keep(keyOf(1), verdictOf(1))).toEqual(verdictOf(1))
    expect(failures).toHaveLength(1)
    expect(cache.find(keyOf(1))?.tier).toBe('memory')
  })
})
