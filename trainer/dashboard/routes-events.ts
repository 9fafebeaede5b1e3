import { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { noRun } from './routes-run.ts'
import type { Runs } from './runs.ts'
import { watchRun, type Change } from './watch.ts'

const asleep = (): void => undefined

/** A sign of life so often keeps connections through proxies open, and shows the page that the server is there. */
const heartbeatMs = 10_000

/** What changes in a run, as it changes. The page then asks for what it shows. */
export const eventRoutes = (runs: Runs): Hono =>
  new Hono().get('/:run/live', async (c) => {
    const run = await runs.find(c.req.param('run'))
    if (run === undefined) return c.json(noRun, 404)
    return streamSSE(c, async (stream) => {
      const waiting: Change[][] = []
      let wake = asleep
      const watch = watchRun(run.reader.root, (changes) => {
        waiting.push(changes)
        wake()
      })
      stream.onAbort(() => {
        watch.close()
        wake()
      })
      await stream.writeSSE({ event: 'open', data: '{}', retry: 2000 })
      while (!stream.aborted) {
        const changes = waiting.shift()
        if (changes !== undefined) await stream.writeSSE({ event: 'change', data: JSON.stringify(changes) })
        else {
          const beat = setTimeout(() => wake(), heartbeatMs)
          await new Promise<void>((resolve) => (wake = resolve))
          clearTimeout(beat)
          if (waiting.length === 0 && !stream.aborted) await stream.writeSSE({ event: 'beat', data: '{}' })
        }
      }
      watch.close()
    })
  })
