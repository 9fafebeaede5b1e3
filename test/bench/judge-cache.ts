import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { open as openDatabase } from 'lmdb'
import { VerdictCache } from '../../judge/cache/cache.ts'
import { encodeEntry } from '../../judge/cache/entry.ts'
import { verdictKey } from '../../judge/cache/key.ts'
import { VerdictStore } from '../../judge/cache/store.ts'
import { keyOf, verdictOf } from '../judge/cache/verdicts.ts'
import { samplePrompts } from '../judge/samples.ts'

/**
 * What the verdict cache costs: `npm run bench -- judge-cache [records]` fills a store, opens it in a process
 * of its own, and times hits of both tiers, the making of their keys included.
 */
const say = (text: string): void => void process.stdout.write(`${text}\n`)
const now = (): number => performance.now()
const probes = 10_000
const identity = { model: 'judge', fingerprint: null, decoding: { temperature: 0, maxTokens: 2048 } }

/** The bytes that the store would write, in larger transactions. */
const fill = async (directory: string, records: number): Promise<void> => {
  const table = openDatabase<Buffer, Buffer>({ path: directory, encoding: 'binary', keyEncoding: 'binary' })
  const batch = 20_000
  for (let from = 0; from < records; from += batch) {
    const numbers = Array.from({ length: Math.min(batch, records - from) }, (_, i) => from + i)
    await Promise.all(numbers.map((n) => table.put(Buffer.from(keyOf(n), 'hex'), encodeEntry(keyOf(n), verdictOf(n)))))
  }
  await table.close()
}

const millisecondsEach = (action: (i: number) => void): number => {
  const started = now()
  for (let i = 0; i < probes; i += 1) action(i)
  return (now() - started) / probes
}

const measure = async (directory: string, records: number): Promise<void> => {
  const before = process.memoryUsage().rss
  const started = now()
  const store = await VerdictStore.open(directory)
  const first = store.get(keyOf(records >> 1))
  const opened = now() - started
  if (first?.score !== verdictOf(records >> 1).score) throw new Error('a wrong verdict')
  const rss = process.memoryUsage().rss
  say(
    `open and first hit: ${opened.toFixed(0)} ms, resident ${(rss / 2 ** 20).toFixed(0)} MiB (${((rss - before) / 2 ** 20).toFixed(0)} more than before)`,
  )

  const cache = new VerdictCache(probes, store, () => undefined)
  const stride = Math.floor(records / probes)
  const keys = Array.from({ length: probes }, (_, i) => keyOf(i * stride))
  const find = (i: number): void => {
    if (cache.find(keys[i] ?? '') === null) throw new Error('a verdict is missing')
  }
  say(`hit on disk: ${millisecondsEach(find).toFixed(4)} ms`)
  say(`hit in memory: ${millisecondsEach(find).toFixed(4)} ms`)
  const completion = 'word '.repeat(500)
  const key = millisecondsEach((i) => void verdictKey(identity, samplePrompts.n1, `${completion}${i}`))
  say(`making a key: ${key.toFixed(4)} ms (2.5 kB of completion)`)
  say(`resident after ${probes} hits: ${(process.memoryUsage().rss / 2 ** 20).toFixed(0)} MiB`)
  await store.close()
}

const [argument = '1000000', existing] = process.argv.slice(2)
const records = Number(argument)
if (existing === undefined) {
  const directory = mkdtempSync(join(tmpdir(), 'judge-cache-bench-'))
  try {
    const started = now()
    await fill(directory, records)
    const size = (statSync(join(directory, 'data.mdb')).size / 2 ** 20).toFixed(0)
    say(
      `${process.version}, ${cpus()[0]?.model}: ${records} records, ${size} MiB, written in ${((now() - started) / 1000).toFixed(1)} s`,
    )
    spawnSync(process.execPath, [...process.execArgv, process.argv[1] ?? '', argument, directory], { stdio: 'inherit' })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
} else await measure(existing, records)
