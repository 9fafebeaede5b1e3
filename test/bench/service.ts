import { fork } from 'node:child_process'
import { once } from 'node:events'
import { cpus, loadavg } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Prompt } from '../../data/records/prompt.ts'
import { table } from '../../scripts/table.ts'
import { makeBodies, openClient } from './service-load.ts'

/**
 * Structural scoring over HTTP, server and client in a process each: completions a second in batches of 64 with 8
 * connections kept busy, what the server's processor time alone would allow on one core, and the latency of a batch
 * when batches arrive at half of the wanted 5,000 completions a second, whether the ones before are answered or not.
 * Usage: npm run bench -- service [seconds]
 */
const seconds = Number(process.argv[2] ?? 5)
const batch = 64
const wanted = 5000
const connections = 8

const startServer = async () => {
  const child = fork(fileURLToPath(new URL('service-server.ts', import.meta.url)))
  const [message] = (await once(child, 'message')) as [{ url: string; train: Prompt[] }]
  const stop = async (): Promise<void> => {
    const exited = once(child, 'exit')
    child.disconnect()
    await exited
  }
  return { ...message, stop }
}

/** Processor seconds that the server has used. */
const serverTime = async (url: string): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^process_cpu_seconds_total (.+)$/m.exec(text)?.[1])
}

type Client = ReturnType<typeof openClient>

/** Keeps every connection busy for a while. */
const saturate = async (client: Client, bodies: readonly Buffer[], milliseconds: number): Promise<number> => {
  const end = performance.now() + milliseconds
  let sent = 0
  const one = async (): Promise<void> => {
    while (performance.now() < end) {
      const body = bodies[sent % bodies.length]
      sent += 1
      if (body !== undefined) await client.post(body)
    }
  }
  await Promise.all(Array.from({ length: connections }, one))
  return sent
}

/** Sends batches at fixed times; a latency counts from the time at which the batch was due. */
const latencies = async (client: Client, bodies: readonly Buffer[], perSecond: number): Promise<number[]> => {
  const due = Array.from({ length: Math.round(perSecond * seconds) }, (_, i) => (i * 1000) / perSecond)
  const started = performance.now()
  const all = await Promise.all(
    due.map(async (at, i) => {
      await setTimeout(at)
      const body = bodies[i % bodies.length]
      if (body !== undefined) await client.post(body)
      return performance.now() - started - at
    }),
  )
  return all.toSorted((a, b) => a - b)
}

const quantile = (sorted: readonly number[], q: number): string =>
  (sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN).toFixed(1)

const measure = async (name: string, url: string, bodies: readonly Buffer[]): Promise<string[]> => {
  const client = openClient(url, connections)
  await saturate(client, bodies, 1500)
  const [cpu, clock] = [await serverTime(url), performance.now()]
  const batches = await saturate(client, bodies, seconds * 1000)
  const [used, passed] = [(await serverTime(url)) - cpu, (performance.now() - clock) / 1000]
  const sorted = await latencies(client, bodies, wanted / 2 / batch)
  client.close()
  return [
    name,
    String(Math.round(bodies.reduce((sum, { length }) => sum + length, 0) / bodies.length / 1000)),
    String(Math.round((batches * batch) / passed)),
    String(Math.round((batches * batch) / used)),
    quantile(sorted, 0.5),
    quantile(sorted, 0.99),
    quantile(sorted, 1),
  ]
}

const load = loadavg()[0]?.toFixed(2)
const server = await startServer()
try {
  const rows = [
    await measure('prompts in the request', server.url, makeBodies(server.train, batch, 40, false)),
    await measure('prompts by id', server.url, makeBodies(server.train, batch, 40, true)),
  ]
  const columns = ['batches of 64', 'kB', 'completions/s', 'per core-second', 'p50 ms', 'p99 ms', 'max ms']
  console.log(table(columns, rows))
  console.log(`\nlatencies at ${wanted / 2} completions a second; ${seconds} s each, ${connections} connections`)
  console.log(`${cpus().length} × ${cpus()[0]?.model}, node ${process.version}, load before: ${load}`)
} finally {
  await server.stop()
}
