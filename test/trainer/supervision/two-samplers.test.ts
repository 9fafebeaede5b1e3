import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { packageRoot } from '../../../data/package-root.ts'
import { RolloutRecord, RunEvent } from '../../../data/records/run.ts'
import type { Judge } from '../../../judge/judge.ts'
import { runTraining, type TrainingOptions, type TrainingOutcome } from '../../../trainer/train.ts'
import { Nursery, type Nursling } from '../../support/nursery.ts'
import { Relay, type OnTheWay, type Passing } from '../../support/relay.ts'
import { mayLack } from '../../support/require.ts'
import {
  captured,
  letterJudge,
  python,
  shortPool,
  source,
  temporaryDirectory,
  tinyConfig,
} from '../../support/tiny-training.ts'

const model = join(packageRoot(), 'data/tiny-base')
const notReady = mayLack([python, join(model, 'config.json')])
const [steps, promptsPerStep, groupSize] = [5, 4, 4]

vi.setConfig({ testTimeout: 600_000 })

/** A group that is asked for: version of the policy and seed. */
interface Group {
  readonly version: number
  readonly seed: number
}

/** Null: not a request for a group of a step. */
const groupOf = ({ route, body }: Passing): Group | null => {
  if (route !== '/v1/completions') return null
  const { model: policy, n, seed } = body as { model: string; n: number; seed: number }
  if (n !== groupSize) return null
  return { version: policy === 'base' ? 0 : Number(policy.slice(-6)), seed }
}

/** A sampler behind a relay, what was asked of it and what it answered. */
class Watched {
  readonly relay: Relay
  readonly sent: Group[] = []
  readonly answered: Group[] = []
  /** Told of every group before it is passed on; the request waits for it. */
  onGroup: (group: Group) => Promise<void> | void = () => undefined
  /** Told when a group has been passed on: it is being sampled. */
  onSent: (group: Group) => void = () => undefined
  #process: Nursling

  private constructor(relay: Relay, process: Nursling) {
    this.relay = relay
    this.#process = process
    const of = (passing: Passing, add: (group: Group) => void): void => {
      const group = groupOf(passing)
      if (group !== null) add(group)
    }
    relay.hooks = {
      request: async (passing): Promise<OnTheWay> => {
        const group = groupOf(passing)
        if (group !== null) await this.onGroup(group)
        return 'pass'
      },
      sent: (passing) =>
        of(passing, (group) => {
          this.sent.push(group)
          this.onSent(group)
        }),
      reply: (passing) => {
        of(passing, ({ version, seed }) => {
          this.answered.push(...this.sent.filter((one) => one.version === version && one.seed === seed))
        })
        return 'pass'
      },
    }
  }

  static async start(nursery: Nursery, name: string): Promise<Watched> {
    const process = await nursery.start(name, model)
    return new Watched(await Relay.start(process), process)
  }

  async kill(): Promise<void> {
    this.relay.target = null
    process.kill(this.#process.pid, 'SIGKILL')
    await this.#process.ended
  }

  async revive(nursery: Nursery, name: string): Promise<void> {
    this.#process = await nursery.start(name, model)
    this.relay.target = this.#process
  }
}

const linesOf = (path: string): unknown[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)

const resultOf = ({ directory, adapter }: TrainingOutcome) => ({
  groups: Array.from({ length: steps }, (_, step) =>
    linesOf(join(directory, `rollouts/step-00000${step}.jsonl`)).map(
      (line) => RolloutRecord.parse(line).group.completions,
    ),
  ),
  weights: readFileSync(join(adapter ?? '', 'adapter_model.safetensors')).toString('base64'),
})

const inOrder = (groups: readonly Group[]): string[] =>
  groups.map(({ version, seed }) => `${version} ${seed}`).toSorted()

describe.skipIf(notReady)('a training with two samplers that somebody else runs (skipped without .venv)', () => {
  let nursery: Nursery
  const relays: Relay[] = []
  beforeAll(() => {
    nursery = new Nursery()
    vi.stubEnv('DRIFT_GRPO_TOKEN', 'relayed')
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await nursery.close()
    await Promise.all(relays.map((relay) => relay.close()))
  })
  const sampler = async (name: string): Promise<Watched> => {
    const watched = await Watched.start(nursery, name)
    relays.push(watched.relay)
    return watched
  }

  const options = async (urls: string[], judge: Judge): Promise<TrainingOptions & { shown: () => string }> => {
    const runs = temporaryDirectory()
    const worker = await Relay.start(await nursery.start('worker', model))
    relays.push(worker)
    const progress = captured()
    return {
      config: tinyConfig(model, runs, {
        run: { dir: runs, steps, checkpointEvery: steps, id: 'two' },
        sampling: { server: { kind: 'vllm', url: urls, model: 'base' } as never, promptsPerStep, groupSize },
        worker: { kind: 'attach', url: worker.url } as never,
        evaluation: { atEnd: false },
      }),
      pool: shortPool(20, 5),
      ...{ judge, source, progress, shown: progress.text },
    }
  }

  it('makes only the requests of one that is killed again, completes the step on the other, and takes it back', async () => {
    const alone = await sampler('alone')
    const expected = resultOf(await runTraining(await options([alone.relay.url], letterJudge)))

    const [first, second] = [await sampler('first'), await sampler('second')]
    let dying: Promise<void> | undefined
    first.onSent = ({ version }) => {
      if (version === 1) dying ??= first.kill()
    }
    let reviving: Promise<void> | undefined
    let stepsWithout = 0
    let shown = (): string => ''
    let metrics = ''
    second.onGroup = async ({ version }) => {
      if (version !== 2 || reviving !== undefined) return
      stepsWithout = linesOf(metrics).length
      reviving = first.revive(nursery, 'first again')
      await reviving
      await expect.poll(shown).toContain('is back after')
    }
    const given = await options([first.relay.url, second.relay.url], letterJudge)
    shown = given.shown
    const outcome = await runTraining({ ...given, onOpened: async (run) => void (metrics = run.metrics) })

    expect(resultOf(outcome)).toEqual(expected)
    // Two steps were complete before it came back: the second one on the other sampler.
    expect(stepsWithout).toBe(2)
    // Every group was answered once; asked again was only what the first was at when it died.
    const answered = [...first.answered, ...second.answered]
    expect(inOrder(answered)).toEqual(inOrder(alone.answered))
    const lost = first.sent.filter((group) => !first.answered.includes(group))
    expect(lost.map(({ version }) => version)).toEqual(lost.map(() => 1))
    expect(lost.length).toBeGreaterThan(0)
    expect(first.sent.length + second.sent.length).toBe(answered.length + lost.length)
    expect(first.answered.map(({ version }) => version)).toEqual(expect.arrayContaining([0, 3, 4]))
    const told = linesOf(join(outcome.directory, 'events.jsonl')).map((line) => RunEvent.parse(line))
    expect(told.map(({ kind }) => kind)).not.toContain('paused')
    const warnings = told.filter(({ kind }) => kind === 'warning').map(({ message }) => message)
    expect(warnings).toEqual([
      expect.stringContaining(`the sampler at ${first.relay.url} is lost: `),
      expect.stringMatching(/ is back after .* there again and proved: base, policy-two-/),
    ])
  })
})
