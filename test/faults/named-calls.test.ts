import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sessionRequest } from '../../trainer/attempt.ts'
import { WorkerClient } from '../../trainer/worker-client.ts'
import { Relay, type OnTheWayBack } from '../support/relay.ts'
import { startStub, type Stub } from '../support/stub-training.ts'
import { temporaryDirectory, tinyConfig } from '../support/tiny-training.ts'

describe('calls of the worker client', () => {
  let stub: Stub
  let relay: Relay
  let root: string
  let client: WorkerClient
  beforeEach(async () => {
    stub = await startStub()
    relay = await Relay.start({ url: stub.url })
    root = temporaryDirectory()
    // The worker makes what it writes, not where a run keeps it.
    mkdirSync(join(root, 'checkpoints'))
    client = new WorkerClient({
      ...{ url: relay.url, token: undefined, requestTimeoutMs: 5000, firstPauseMs: 1 },
      ...{ adaptersDir: join(root, 'adapters'), statesDir: join(root, 'checkpoints') },
    })
    await client.open(sessionRequest(tinyConfig('stub', root), 'r'))
  })
  afterEach(async () => {
    await relay.close()
    await stub.close()
  })

  it.each<OnTheWayBack>(['cut', 'half', 'short'])(
    'are asked again under the same name when the reply is %s, and done once',
    async (fault) => {
      relay.hooks = { reply: ({ before }) => (before === 0 ? fault : 'pass') }
      const saved = await client.saveAdapter('v000001')
      await client.saveState('step-000001/worker')
      await client.loadState('step-000001/worker')
      expect(saved).toMatchObject({ version: 0, location: join(root, 'adapters/v000001') })
      expect(existsSync(join(root, 'checkpoints/step-000001/worker/session.json'))).toBe(true)
      expect(await stub.ledger()).toMatchObject({ repeated: 3, violations: [] })
    },
  )

  it('have another name each: a path that is taken is refused, not answered from memory', async () => {
    await client.saveAdapter('v000001')
    await expect(client.saveAdapter('v000001')).rejects.toMatchObject({ boundary: 'worker', retryable: false })
  })
})
