import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../configs/load.ts'
import { openPool } from '../../data/pool/open.ts'
import { StepMetrics } from '../../data/records/metrics.ts'
import { Prompt } from '../../data/records/prompt.ts'
import type { RolloutGroup } from '../../data/records/rollout.ts'
import { RolloutRecord, RunEvent } from '../../data/records/run.ts'
import type { Judge } from '../../judge/judge.ts'
import { referenceJudge } from '../../judge/reference.ts'
import { packageRoot } from '../../data/package-root.ts'
import { runTraining, type TrainingOutcome } from '../../trainer/train.ts'
import { captured } from '../support/tiny-training.ts'

/** The toy's recipe, shorter: two of five prompts are sampled at a time, so that a step has a middle. */
export const settings = [
  ...['run.steps=10', 'run.checkpointEvery=100', 'model.maxCompletionTokens=120', 'pool.train=40', 'pool.heldout=5'],
  ...['sampling.promptsPerStep=5', 'sampling.concurrency=2', 'lora.rank=16', 'worker.threads=1', 'worker.device=cpu'],
  ...['optimizer.schedule=constant', 'optimizer.warmupFraction=0', 'evaluation.atEnd=false', 'evaluation.prompts=5'],
  // The judge is asked about every completion, so that it knows how far a step has come.
  'rewards.profile=paper',
]
export const contextTokens = 400 + 120

const linesOf = <T>(file: string, schema: { parse(value: unknown): T }): T[] =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => schema.parse(JSON.parse(line)))

export const metricsOf = (run: string): StepMetrics[] => linesOf(join(run, 'metrics.jsonl'), StepMetrics)
export const eventsOf = (run: string): RunEvent[] => linesOf(join(run, 'events.jsonl'), RunEvent)

/** The groups of a step as they were sampled. */
export const rolloutsOf = (run: string, step: number): RolloutGroup[] =>
  linesOf(join(run, 'rollouts', `step-${String(step).padStart(6, '0')}.jsonl`), RolloutRecord).map(({ group }) => group)

/** Asks the reference judge, and calls `act` once, when the first group of the step of that number has come back. */
const judgeThatActs = (groupsBefore: number, act: () => void): Judge => {
  let seen = 0
  return {
    ...referenceJudge,
    judge: async (request) => {
      // One question a completion, four completions a group.
      if (seen++ === groupsBefore * 4) act()
      return await referenceJudge.judge(request)
    },
  }
}

/** Trains in this process, by the same config as `train` would, and acts in the middle of a step. */
export const trainAndAct = async (
  sets: readonly string[],
  { directory, step, act }: { readonly directory: string; readonly step: number; readonly act: () => void },
): Promise<TrainingOutcome> => {
  const { config } = await loadConfig({ name: 'tiny.yaml', sets, cwd: packageRoot() })
  const pool = await openPool(config.pool, config.prompts.examples, { cwd: directory })
  return await runTraining({
    config,
    pool: [...pool.train, ...pool.heldout].map((prompt) => Prompt.parse(prompt)),
    judge: judgeThatActs(step * config.sampling.promptsPerStep, act),
    source: { name: 'tiny.yaml', text: null, values: config, provenance: {} },
    progress: captured(),
    cwd: directory,
  })
}
