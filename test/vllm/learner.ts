import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { UpdateBatch, UpdateResult } from '../../data/records/update.ts'
import { sessionRequest } from '../../trainer/attempt.ts'
import type { EngineProcess } from '../../trainer/vllm-process.ts'
import { lossConfig } from '../../trainer/pack.ts'
import { RunDirectory } from '../../trainer/run-directory.ts'
import { VllmSampler } from '../../trainer/vllm-sampler.ts'
import { WorkerClient } from '../../trainer/worker-client.ts'
import { startWorker } from '../../trainer/worker-process.ts'
import { tinyConfig } from '../support/tiny-training.ts'
import { token } from './server.ts'

const timeouts = { requestTimeoutMs: 600_000, controlTimeoutMs: 600_000 }

/** A client of a real vLLM. */
export const samplerOf = ({ url, gone }: EngineProcess): VllmSampler =>
  new VllmSampler({ url, token, gone, baseName: 'base', ...timeouts })

/** A real worker with an open session of rank 16, and the updates that it makes of made-up rewards. */
export class TestLearner {
  readonly run: RunDirectory
  readonly client: WorkerClient
  readonly #stop: () => Promise<void>
  #version = 0

  private constructor(run: RunDirectory, client: WorkerClient, stop: () => Promise<void>) {
    this.run = run
    this.client = client
    this.#stop = stop
  }

  static async start(model: string, root: string): Promise<TestLearner> {
    const run = new RunDirectory(root, 'vllm')
    const config = tinyConfig(model, root, { lora: { rank: 16, alpha: 32 } })
    if (config.worker.kind !== 'spawn') throw new Error('the tests start their own worker')
    const worker = await startWorker({
      config: { ...config.worker, dtype: 'float32', device: 'cpu', threads: 1, startTimeoutSeconds: 1500 },
      model,
      maxContext: 512,
      roots: [run.adapters, run.checkpoints],
      logPath: run.log('worker'),
      records: run.processes,
    })
    const client = new WorkerClient({
      ...{ url: worker.url, token: worker.token, gone: worker.gone, requestTimeoutMs: timeouts.requestTimeoutMs },
      ...{ adaptersDir: run.adapters, statesDir: run.checkpoints },
    })
    await client.open(sessionRequest(config, run.id))
    return new TestLearner(run, client, () => worker.stop())
  }

  get version(): number {
    return this.#version
  }

  /** One optimizer step on given or made-up tokens, strong enough to be seen in any log-prob. */
  async update(groups: UpdateBatch['groups'] = [madeUp(this.#version)]): Promise<UpdateResult> {
    const result = await this.client.update({
      runId: this.run.id,
      step: this.#version,
      fromVersion: this.#version,
      tokenBudget: 4096,
      loss: lossConfig(tinyConfig('m', 'r').grpo, { maxCompletionTokens: 64 }),
      groups,
    })
    this.#version = result.version
    return result
  }

  weights(directory: string): Buffer {
    return readFileSync(join(this.run.adapters, directory, 'adapter_model.safetensors'))
  }

  stop(): Promise<void> {
    return this.#stop()
  }
}

const madeUp = (version: number): UpdateBatch['groups'][number] => {
  const completion = (advantage: number, first: number) => ({
    tokenIds: [first + version, 40, 41, 42],
    advantage,
    samplerLogprobs: [-5, -5, -5, -5],
  })
  return { promptTokenIds: [10, 11, 12], completions: [completion(1, 30), completion(-1, 60)] }
}
