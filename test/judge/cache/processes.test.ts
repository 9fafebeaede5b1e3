import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { VerdictStore } from '../../../judge/cache/store.ts'
import { temporaryDirectory } from '../../support/tiny-training.ts'
import { keyOf, verdictOf } from './verdicts.ts'

const program = fileURLToPath(new URL('fixtures/writer.ts', import.meta.url))

interface Writer {
  /** Which verdict was kept, by number of the question: what the process said it was sure of. */
  readonly acknowledged: Map<number, string>
  /** Resolves when so many were acknowledged. */
  readonly reached: (count: number) => Promise<void>
  readonly kill: () => void
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
}

const startWriter = (directory: string, name: string, from: number, to: number): Writer => {
  const args = ['--import', import.meta.resolve('tsx'), program, directory, name, String(from), String(to)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const acknowledged = new Map<number, string>()
  const lines = createInterface({ input: child.stdout })
  const waiting: { readonly count: number; readonly resolve: () => void }[] = []
  lines.on('line', (line) => {
    const [number = '', reason = ''] = line.split('\t')
    acknowledged.set(Number(number), reason)
    for (const one of waiting) if (acknowledged.size >= one.count) one.resolve()
  })
  const ended = Promise.all([once(child, 'close'), once(lines, 'close')]).then(() => ({
    code: child.exitCode,
    signal: child.signalCode,
  }))
  return {
    acknowledged,
    reached: (count) => new Promise((resolve) => waiting.push({ count, resolve })),
    kill: () => void child.kill('SIGKILL'),
    ended,
  }
}

const openStore = async (directory: string): Promise<VerdictStore> => {
  const store = await VerdictStore.open(directory)
  onTestFinished(() => store.close())
  return store
}

/** Every record is whole and is about the question whose key it has. */
const expectSound = (store: VerdictStore, limit: number): void => {
  const numberOf = new Map(Array.from({ length: limit }, (_, n) => [keyOf(n), n]))
  for (const { key, verdict } of store.entries()) {
    const number = numberOf.get(key) ?? Number.NaN
    expect(verdict).toMatchObject({ score: verdictOf(number).score })
    expect(verdict?.reason).toMatch(new RegExp(`on question ${number}$`))
  }
}

describe('a cache directory that several processes use', () => {
  it('takes the writes of two at once, and both keep the same verdict on the same question', async () => {
    const directory = temporaryDirectory()
    const [a, b] = [startWriter(directory, 'a', 0, 800), startWriter(directory, 'b', 400, 1200)]
    expect(await Promise.all([a.ended, b.ended])).toEqual([0, 0].map((code) => ({ code, signal: null })))
    const store = await openStore(directory)
    expect(store.size).toBe(1200)
    for (let n = 0; n < 1200; n += 1) {
      const said = new Set([a.acknowledged.get(n), b.acknowledged.get(n)].filter((reason) => reason !== undefined))
      expect([...said]).toEqual([store.get(keyOf(n))?.reason])
    }
  })

  it('loses nothing that was acknowledged when a writer is killed in the middle, again and again', async () => {
    const directory = temporaryDirectory()
    const acknowledged = new Map<number, string>()
    const rounds = 4
    const each = 20_000
    const other = startWriter(directory, 'other', rounds * each, rounds * each + 2000)
    for (let round = 0; round < rounds; round += 1) {
      const writer = startWriter(directory, 'a', round * each, (round + 1) * each)
      await writer.reached(100 + 61 * round)
      writer.kill()
      expect(await writer.ended).toMatchObject({ signal: 'SIGKILL' })
      for (const [number, reason] of writer.acknowledged) acknowledged.set(number, reason)
    }
    // The one beside them never noticed.
    expect(await other.ended).toEqual({ code: 0, signal: null })
    for (const [number, reason] of other.acknowledged) acknowledged.set(number, reason)

    const store = await openStore(directory)
    expect(acknowledged.size).toBeGreaterThan(2000 + 400)
    const lost = [...acknowledged].filter(([number, reason]) => store.get(keyOf(number))?.reason !== reason)
    expect(lost).toEqual([])
    expectSound(store, rounds * each + 2000)
  })
})
