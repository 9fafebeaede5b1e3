import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { StepMetrics } from '../../data/records/metrics.ts'
import { EvaluationSample, EvaluationSummary, RolloutRecord, RunEvent, RunStatus } from '../../data/records/run.ts'
import { UpdateBatch, UpdateResult } from '../../data/records/update.ts'
import { processStart } from '../../trainer/lock.ts'
import { runTraining, type TrainingOptions, type TrainingOutcome } from '../../trainer/train.ts'
import { WorkerSection } from '../../trainer/worker-config.ts'
import {
  captured,
  letterJudge,
  makeTinyModel,
  noPython,
  shortPool,
  source,
  temporaryDirectory,
  tinyConfig,
} from '../support/tiny-training.ts'

const linesOf = (path: string): unknown[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)

const adapterBytes = (outcome: TrainingOutcome): Buffer =>
  readFileSync(join(outcome.adapter ?? '', 'adapter_model.safetensors'))

/** A metrics line without what may differ between two runs that compute the same. */
const comparable = (line: unknown): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(line as object).filter(([key]) => !/^(at|attempt|step_time|time\/.*|worker\/.*)$/.test(key)),
  )

it('gives a caller the end of a run while the run is still held', async () => {
  const runs = temporaryDirectory()
  const config = tinyConfig(temporaryDirectory(), runs, { run: { dir: runs, steps: 1, id: 'ends' } })
  const endings: unknown[] = []
  const training = runTraining({
    ...{ pool: shortPool(12, 5), judge: letterJudge, source, progress: captured() },
    config: { ...config, worker: WorkerSection.parse({ python: '/no/such/python' }) },
    onEnding: async (kind) => void endings.push({ kind, isHeld: existsSync(join(runs, 'ends', 'lock.json')) }),
  })
  await expect(training).rejects.toThrow('Python was not found')
  expect(endings).toStrictEqual([{ kind: 'failed', isHeld: true }])
  expect(existsSync(join(runs, 'ends', 'lock.json'))).toBe(false)
})

describe.skipIf(noPython)('training with the real worker and a tiny random model', () => {
  const runs = temporaryDirectory()
  const pool = shortPool(12, 5)
  let model = ''
  let whole: TrainingOutcome
  const progress = captured()
  const options = (id: string, extra: Partial<TrainingOptions> = {}): TrainingOptions => ({
    config: tinyConfig(model, runs, { run: { dir: runs, steps: 5, checkpointEvery: 2, id } }),
    pool,
    judge: letterJudge,
    source,
    progress: captured(),
    ...extra,
  })

  beforeAll(async () => {
    model = makeTinyModel()
    whole = await runTraining(options('whole', { progress, warnings: ['the pool is small'] }))
  }, 600_000)

  it('does all steps, evaluates, and says so', () => {
    expect(whole).toMatchObject({
      kind: 'finished',
      runId: 'whole',
      step: 5,
      steps: 5,
      policyVersion: 5,
      resumeWith: null,
    })
    expect(RunStatus.parse(JSON.parse(readFileSync(join(whole.directory, 'status.json'), 'utf8')))).toMatchObject({
      state: 'finished',
      step: 5,
      message: null,
    })
    expect(progress.text()).toContain('step 5/5')
    expect(existsSync(join(whole.directory, 'lock.json'))).toBe(false)
  })

  it('writes one valid metrics line a step, with first-update invariants', () => {
    const lines = linesOf(join(whole.directory, 'metrics.jsonl')).map((line) => StepMetrics.parse(line))
    expect(lines.map((line) => line.step)).toEqual([0, 1, 2, 3, 4])
    expect(lines[0]).toMatchObject({ kl: 0, 'clip_ratio/region_mean': 0, from_version: 0, policy_version: 1 })
    expect(lines[4]?.['kl']).toBeGreaterThan(0)
    for (const line of lines) expect(line['sampling/sampling_logp_difference/mean']).toBeLessThan(1e-4)
  })

  it('records groups and updates that can be read back and agree with each other', () => {
    for (const step of [0, 4]) {
      const groups = linesOf(join(whole.directory, `rollouts/step-00000${step}.jsonl`)).map((line) =>
        RolloutRecord.parse(line),
      )
      expect(groups).toHaveLength(3)
      const { batch, result } = JSON.parse(
        readFileSync(join(whole.directory, `updates/step-00000${step}.json`), 'utf8'),
      ) as { batch: unknown; result: unknown }
      const sent = UpdateBatch.parse(batch).groups.flatMap((group) => group.completions)
      const live = groups
        .filter(({ advantages }) => advantages.skipped === null)
        .flatMap(({ group }) => group.completions)
      expect(sent.map(({ tokenIds }) => tokenIds)).toEqual(live.map(({ tokenIds }) => tokenIds))
      expect(UpdateResult.parse(result).fromVersion).toBe(groups[0]?.group.policyVersion)
      expect(new Set(groups.map(({ group }) => group.policyName)).size).toBe(1)
    }
  })

  it('keeps the newest checkpoints, and only adapters that something may still ask for', () => {
    expect(readdirSync(join(whole.directory, 'checkpoints')).toSorted()).toEqual(['step-000004', 'step-000005'])
    expect(readdirSync(join(whole.directory, 'adapters')).toSorted()).toEqual(['v000003', 'v000004', 'v000005'])
  })

  it('shows what was found out beforehand, and records it', () => {
    expect(progress.text()).toContain('warning: the pool is small')
    const events = linesOf(join(whole.directory, 'events.jsonl')).map((line) => RunEvent.parse(line))
    expect(events).toContainEqual(expect.objectContaining({ kind: 'warning', message: 'the pool is small' }))
  })

  it('reports each checkpoint once, also where the run stops at the border that has one', async () => {
    const stop = new AbortController()
    const atBorder = { ...captured(), write: (text: string) => void (text.startsWith('step 2/') && stop.abort()) }
    const stopped = await runTraining(options('border', { stop: stop.signal, progress: atBorder }))
    expect(stopped).toMatchObject({ kind: 'stopped', step: 2 })
    const steps = ({ directory }: TrainingOutcome): (number | null)[] =>
      linesOf(join(directory, 'events.jsonl'))
        .map((line) => RunEvent.parse(line))
        .flatMap(({ kind, step }) => (kind === 'checkpoint' ? [step] : []))
    expect([steps(stopped), steps(whole)]).toEqual([[2], [2, 4, 5]])
  })

  it('compares base and trained on the same prompts, seeds and settings', () => {
    const base = linesOf(join(whole.directory, 'eval/final/base.jsonl')).map((line) => EvaluationSample.parse(line))
    const trained = linesOf(join(whole.directory, 'eval/final/trained.jsonl')).map((line) =>
      EvaluationSample.parse(line),
    )
    expect(base.map(({ promptId, seed }) => [promptId, seed])).toEqual(
      trained.map(({ promptId, seed }) => [promptId, seed]),
    )
    expect(new Set(base.map(({ promptId }) => promptId)).size).toBe(4)
    const summary = EvaluationSummary.parse(
      JSON.parse(readFileSync(join(whole.directory, 'eval/final/summary.json'), 'utf8')),
    )
    expect(summary).toEqual(whole.evaluation)
    expect(summary.all.improved + summary.all.equal + summary.all.worse).toBe(4)
  })

  it('continues bit for bit after a polite stop, after the death of the worker, and after a hard stop', async () => {
    const workerPid = (): number => {
      const pids = readFileSync(join(runs, 'broken/logs/worker.log'), 'utf8').match(
        /(?<=Started server process \[)\d+/g,
      )
      return Number(pids?.at(-1))
    }
    const after = (start: string, act: () => void) => ({
      ...captured(),
      write: (text: string) => void (text.startsWith(start) && act()),
    })

    const stop = new AbortController()
    const first = await runTraining(
      options('broken', { stop: stop.signal, progress: after('step 1/', () => stop.abort()) }),
    )
    expect(first).toMatchObject({ kind: 'stopped', step: 1, resumeWith: 'broken' })

    // The fourth step is under way when the worker dies: step 3 is recorded, but the newest checkpoint is that of step 2.
    const kill = after('step 3/', () => setImmediate(() => process.kill(workerPid(), 'SIGKILL')))
    await expect(runTraining(options('broken', { resume: 'broken', progress: kill }))).rejects.toMatchObject({
      boundary: 'worker',
      message: expect.stringContaining('SIGKILL') as string,
    })
    expect(RunStatus.parse(JSON.parse(readFileSync(join(runs, 'broken/status.json'), 'utf8')))).toMatchObject({
      state: 'failed',
      step: 3,
      attempt: 2,
    })

    const abort = new AbortController()
    const third = await runTraining(
      options('broken', {
        resume: 'broken',
        abort: abort.signal,
        progress: after('step 3/', () => setImmediate(() => abort.abort(new Error('now')))),
      }),
    )
    expect(third).toMatchObject({ kind: 'aborted', step: 2 })
    expect(processStart(workerPid())).toBeUndefined()

    const last = await runTraining(options('broken', { resume: 'broken' }))
    expect(last).toMatchObject({ kind: 'finished', step: 5, policyVersion: 5 })
    expect(adapterBytes(last).equals(adapterBytes(whole))).toBe(true)
    const metrics = (outcome: TrainingOutcome) => linesOf(join(outcome.directory, 'metrics.jsonl')).map(comparable)
    expect(metrics(last)).toEqual(metrics(whole))
    expect(last.evaluation?.all).toEqual(whole.evaluation?.all)
    expect(linesOf(join(last.directory, 'attempts.jsonl'))).toHaveLength(4)
  }, 900_000)

  it('does not begin when it is asked to stop before', async () => {
    const stop = AbortSignal.abort(new Error('not now'))
    const outcome = await runTraining(options('early', { stop }))
    expect(outcome).toMatchObject({ kind: 'stopped', step: 0, policyVersion: 0, adapter: null, resumeWith: 'early' })
  }, 120_000)

  it('refuses to continue a run with another pool', async () => {
    const changed = options('broken', { resume: 'broken', pool: shortPool(11, 5) })
    await expect(runTraining(changed)).rejects.toThrow(/changed since it was started: the pool/)
  }, 120_000)
})
