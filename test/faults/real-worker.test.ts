import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { packageRoot } from '../../data/package-root.ts'
import { StepMetrics } from '../../data/records/metrics.ts'
import { RolloutRecord } from '../../data/records/run.ts'
import type { Judge } from '../../judge/judge.ts'
import { faulty, type Tally } from '../support/faults.ts'
import { Nursery, type Nursling } from '../support/nursery.ts'
import { Relay } from '../support/relay.ts'
import { mayLack } from '../support/require.ts'
import { trainStub } from '../support/stub-training.ts'
import { python, temporaryDirectory } from '../support/tiny-training.ts'

const model = join(packageRoot(), 'data/tiny-base')
const notReady = mayLack([python, join(model, 'config.json')])
const steps = 20

vi.setConfig({ testTimeout: 900_000 })

/** Two completions hardly ever have the same score: each group has a gradient. */
const hashJudge: Judge = {
  name: 'hash',
  judge: async ({ completion }) => ({
    score: (createHash('sha256').update(completion).digest().readUInt16BE(0) % 101) / 100,
    ...{ reason: 'a hash', model: 'hash', cached: false, latencyMs: 0 },
  }),
}

const linesOf = (path: string): unknown[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)

/** What was sampled, what became of it, and the weights in the end. */
const outcomeOf = ({ run, state }: Awaited<ReturnType<typeof trainStub>>) => ({
  versions: linesOf(run.metrics).map((line) => StepMetrics.parse(line).policy_version),
  losses: linesOf(run.metrics).map((line) => StepMetrics.parse(line)['loss']),
  tokens: readdirSync(run.at('rollouts'))
    .toSorted()
    .flatMap((name) => linesOf(join(run.at('rollouts'), name)))
    .map((line) => RolloutRecord.parse(line).group.completions.map(({ tokenIds }) => tokenIds)),
  adapter: readFileSync(join(run.adapters, state.adapter ?? '', 'adapter_model.safetensors')).toString('base64'),
})

const faultsIn = (tally: Tally): number =>
  Object.entries(tally).reduce((sum, [kind, count]) => sum + (kind === 'none' ? 0 : count), 0)

describe.skipIf(notReady)(
  'between a run, the real worker and its sampler (skipped without .venv and data/tiny-base)',
  () => {
    let nursery: Nursery
    const relays: Relay[] = []
    beforeAll(() => void (nursery = new Nursery()))
    afterAll(() => nursery.close())
    afterEach(async () => void (await Promise.all(relays.splice(0).map((relay) => relay.close()))))

    const relayed = async ({ url, token }: Nursling, hooks: Relay['hooks']): Promise<string> => {
      const relay = await Relay.start({ url, token })
      relay.hooks = hooks
      relays.push(relay)
      return relay.url
    }
    const train = async (name: string, atWorker: Relay['hooks'], atSampler: Relay['hooks']) => {
      const worker = await nursery.start(name, model)
      return outcomeOf(
        await trainStub({
          ...{ runs: temporaryDirectory(), steps, judge: hashJudge, config: { optimizer: { learningRate: 0.002 } } },
          workerUrl: await relayed(worker, atWorker),
          samplerUrl: await relayed(worker, atSampler),
        }),
      )
    }

    it('every fifth exchange is dropped, doubled, delayed or cut short: the adapter is bit for bit the same', async () => {
      const calm = await train('calm', {}, {})
      const [atWorker, atSampler]: [Tally, Tally] = [{}, {}]
      const shaken = await train('shaken', faulty(1, 0.2, atWorker), faulty(2, 0.2, atSampler))
      expect(calm.versions).toEqual(Array.from({ length: steps }, (_, i) => i + 1))
      expect(new Set(calm.losses).size).toBeGreaterThan(steps / 2)
      expect(shaken).toEqual(calm)
      expect(faultsIn(atWorker)).toBeGreaterThan(0)
      expect(faultsIn(atWorker) + faultsIn(atSampler)).toBeGreaterThan(steps / 2)
    })
  },
)
