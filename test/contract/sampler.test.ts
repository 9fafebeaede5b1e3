import { afterAll, beforeAll, describe, vi } from 'vitest'
import { mayLack } from '../support/require.ts'
import { python, startWorker, type RunningWorker } from './embedded-worker.ts'
import { HttpClient } from './http-client.ts'
import { samplerContract } from './sampler.contract.ts'

vi.setConfig({ testTimeout: 120_000 })

describe.skipIf(mayLack([python]))('contract of the embedded sampler', () => {
  let worker: RunningWorker | undefined
  beforeAll(async () => {
    worker = await startWorker()
  }, 300_000)
  afterAll(async () => {
    await worker?.stop()
  }, 30_000)
  samplerContract(() => {
    if (worker === undefined) throw new Error('the worker did not start')
    return { http: new HttpClient(worker.url, worker.token), model: 'base', models: worker.models }
  })
})

// A server that was started by hand on the model of make_models.py, served as `base`: `test/contract/README.md`.
const url = process.env['DRIFT_GRPO_SAMPLER_URL']
describe.skipIf(url === undefined)('contract of the server at DRIFT_GRPO_SAMPLER_URL', () => {
  samplerContract(() => {
    const models = process.env['DRIFT_GRPO_SAMPLER_MODELS']
    if (models === undefined)
      throw new Error('set DRIFT_GRPO_SAMPLER_MODELS to the directory that make_models.py wrote')
    return { http: new HttpClient(url ?? '', process.env['DRIFT_GRPO_SAMPLER_TOKEN']), model: 'base', models }
  })
})
