import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createInterface } from 'node:readline'
import type { Judge } from '../../judge/judge.ts'
import { createScorer } from '../../rewards/scorer.ts'
import { startAttempt, type Attempt } from '../../trainer/attempt.ts'
import type { LoopState } from '../../trainer/checkpoint.ts'
import { RunEvaluator } from '../../trainer/evaluation/run-evaluator.ts'
import { openRun } from '../../trainer/open-run.ts'
import { createProgress } from '../../trainer/progress.ts'
import { Recorder } from '../../trainer/recorder.ts'
import type { RunDirectory } from '../../trainer/run-directory.ts'
import type { Services } from '../../trainer/services.ts'
import { runSteps } from '../../trainer/steps.ts'
import type { TrainingOptions } from '../../trainer/train.ts'
import { VllmSampler } from '../../trainer/vllm-sampler.ts'
import { WorkerClient } from '../../trainer/worker-client.ts'
import type { Ledger } from './stub-worker.ts'
import { captured, letterJudge, shortPool, source, tinyConfig } from './tiny-training.ts'

export interface Stub {
  readonly url: string
  readonly pid: number
  /** Resolves when it has ended. */
  readonly ended: Promise<unknown>
  ledger(): Promise<Ledger>
  close(): Promise<void>
}

/** Starts a stub worker as its own process. */
export const startStub = async (): Promise<Stub> => {
  const path = fileURLToPath(new URL('stub-worker-process.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), path], {
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  const [line] = (await once(createInterface({ input: child.stderr }), 'line')) as [string]
  const url = line.replace('stub at ', '')
  const ended = once(child, 'exit')
  return {
    ...{ url, pid: child.pid ?? 0, ended },
    ledger: async () => (await (await fetch(`${url}/ledger`)).json()) as Ledger,
    close: async () => {
      child.stdin.end()
      await ended
    },
  }
}

export interface StubTraining {
  readonly runs: string
  readonly steps: number
  /** Where worker and sampler are reached: the stub itself, or what stands before it. */
  readonly workerUrl: string
  readonly samplerUrl: string
  readonly resume?: string | null
  readonly config?: Parameters<typeof tinyConfig>[2]
  readonly onStep?: (state: LoopState) => void
  /** Letters are what is liked unless another judge is given. */
  readonly judge?: Judge
}

const judgeOf = ({ judge }: StubTraining): Judge => judge ?? letterJudge

const services = (run: RunDirectory, { workerUrl, samplerUrl }: StubTraining): Services => ({
  // A try after a fault comes at once: what is tested is not how long people wait.
  learner: new WorkerClient({
    ...{ url: workerUrl, token: undefined, requestTimeoutMs: 60_000, firstPauseMs: 1 },
    ...{ adaptersDir: run.adapters, statesDir: run.checkpoints },
  }),
  sampler: new VllmSampler({ url: samplerUrl, baseName: 'base', requestTimeoutMs: 60_000, tries: 8, firstPauseMs: 1 }),
  stop: async () => undefined,
})

/** Trains against a stub through the trainer's own clients, loop, recorder and checkpoints. */
export const trainStub = async (wanted: StubTraining): Promise<{ run: RunDirectory; state: LoopState }> => {
  const config: TrainingOptions['config'] = tinyConfig('stub', wanted.runs, {
    run: { dir: wanted.runs, id: 'stub', steps: wanted.steps, checkpointEvery: 20, ...wanted.config?.run },
    sampling: { groupSize: 2, promptsPerStep: 2, ...wanted.config?.sampling },
    optimizer: { ...wanted.config?.optimizer },
    evaluation: { atEnd: false, ...wanted.config?.evaluation },
  })
  const pool = shortPool(10, 5)
  const opened = await openRun({
    ...{ section: config.run, configName: 'stub.yaml', resume: wanted.resume ?? null, judge: judgeOf(wanted).name },
    sources: { configText: source.text, values: config, provenance: {}, pool },
  })
  try {
    const attempt = await start(config, pool, opened, wanted)
    return { run: opened.run, state: await steps(attempt, opened.run, config, wanted) }
  } finally {
    await opened.release()
  }
}

const start = async (
  config: TrainingOptions['config'],
  pool: TrainingOptions['pool'],
  opened: Awaited<ReturnType<typeof openRun>>,
  wanted: StubTraining,
): Promise<Attempt> => {
  const progress = createProgress({ ...captured(), write: () => undefined })
  const judge = judgeOf(wanted)
  return await startAttempt({
    ...{ config, pool, opened, progress, warnings: [], judgeName: judge.name },
    scorer: createScorer(config.rewards, judge),
    services: services(opened.run, wanted),
    recorder: new Recorder(opened.run, opened.attempt, config.run.steps),
    starting: new AbortController().signal,
  })
}

const steps = async (
  attempt: Attempt,
  run: RunDirectory,
  config: TrainingOptions['config'],
  wanted: StubTraining,
): Promise<LoopState> => {
  const evaluator = new RunEvaluator({
    ...{ context: attempt.context, run, heldout: attempt.pool.heldout, rewards: config.rewards },
    ...{ judgeName: judgeOf(wanted).name, signal: new AbortController().signal, onStatus: () => undefined },
  })
  await evaluator.open(attempt.state.nextStep)
  return await runSteps({
    ...{ attempt, run, evaluator },
    progress: createProgress({ ...captured(), write: () => undefined }),
    onStep: wanted.onStep ?? (() => undefined),
  })
}
