import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { StepMetrics } from '../../data/records/metrics.ts'
import { runTraining, type TrainingOutcome } from '../../trainer/train.ts'
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

const metricsOf = ({ directory }: TrainingOutcome): StepMetrics[] =>
  readFileSync(join(directory, 'metrics.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => StepMetrics.parse(JSON.parse(line)))

describe.skipIf(noPython)('a worker of two ranks', () => {
  it('trains as one process does, and ends with the run', async () => {
    const model = makeTinyModel()
    const runs = temporaryDirectory()
    const train = async (ranks: number): Promise<StepMetrics[]> => {
      const config = tinyConfig(model, runs, {
        run: { dir: runs, steps: 2, id: `ranks-${ranks}` },
        worker: { ranks },
        evaluation: { atEnd: false },
      })
      return metricsOf(
        await runTraining({ config, pool: shortPool(12, 5), judge: letterJudge, source, progress: captured() }),
      )
    }
    const [alone, shared] = [await train(1), await train(2)]
    expect(shared.map((step) => step['reward'])).toEqual(alone.map((step) => step['reward']))
    for (const [step, metrics] of alone.entries())
      expect(shared[step]?.['grad_norm']).toBeCloseTo(Number(metrics['grad_norm']), 4)
  }, 300_000)
})
