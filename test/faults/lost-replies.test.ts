import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { StepMetrics } from '../../data/records/metrics.ts'
import { faulty, type Tally } from '../support/faults.ts'
import { Relay } from '../support/relay.ts'
import { startStub, trainStub, type Stub } from '../support/stub-training.ts'
import { temporaryDirectory } from '../support/tiny-training.ts'

vi.setConfig({ testTimeout: 900_000 })

const versionsOf = (metrics: string): number[] =>
  readFileSync(metrics, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => StepMetrics.parse(JSON.parse(line)).policy_version)

const upTo = (last: number): number[] => Array.from({ length: last }, (_, i) => i + 1)

describe('between orchestrator, worker and sampler', () => {
  const open: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of open.splice(0)) await close()
  })
  const stubbed = async (): Promise<Stub> => {
    const stub = await startStub()
    open.push(() => stub.close())
    return stub
  }
  const relayed = async (stub: Stub, seed: number, tally: Tally): Promise<string> => {
    const relay = await Relay.start({ url: stub.url })
    relay.hooks = faulty(seed, 0.2, tally)
    open.push(() => relay.close())
    return relay.url
  }

  it('1,000 steps lose and double no update though every fifth exchange is dropped, doubled, delayed or cut short', async () => {
    const steps = 1000
    const calm = await stubbed()
    const plain = await trainStub({ runs: temporaryDirectory(), steps, workerUrl: calm.url, samplerUrl: calm.url })
    const stub = await stubbed()
    const [atWorker, atSampler]: [Tally, Tally] = [{}, {}]
    const { run, state } = await trainStub({
      ...{ runs: temporaryDirectory(), steps },
      workerUrl: await relayed(stub, 1, atWorker),
      samplerUrl: await relayed(stub, 2, atSampler),
    })
    expect(await stub.ledger()).toMatchObject({ applied: steps, version: steps, violations: [] })
    expect(versionsOf(run.metrics)).toEqual(upTo(steps))
    expect((await stub.ledger()).weights).toBe((await calm.ledger()).weights)
    const adapter = (root: string, name: string | null): string =>
      readFileSync(join(root, 'adapters', name ?? '', 'adapter_model.safetensors'), 'utf8')
    expect(adapter(run.root, state.adapter)).toBe(adapter(plain.run.root, plain.state.adapter))
    expect(readdirSync(run.at('rollouts'))).toEqual(readdirSync(plain.run.at('rollouts')))
  })
})
