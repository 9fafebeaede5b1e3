import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Prompt } from '../../../data/records/prompt.ts'
import { nodeIds } from '../../../data/records/node.ts'
import { readBest } from '../../../trainer/evaluation/best.ts'
import { chooseCheckpoint } from '../../../trainer/evaluation/choose-checkpoint.ts'
import { loadEvaluation } from '../../../trainer/evaluation/load.ts'
import { RunDirectory } from '../../../trainer/run-directory.ts'
import { runTraining, type TrainingOptions } from '../../../trainer/train.ts'
import { samplePrompts } from '../../judge/samples.ts'
import {
  captured,
  letterJudge,
  makeTinyModel,
  noPython,
  shortPool,
  source,
  temporaryDirectory,
  tinyConfig,
} from '../../support/tiny-training.ts'

/** Held-out prompts with targets, so that there is an accuracy. */
const withTargets = nodeIds.map((node): Prompt => {
  const prompt = samplePrompts[node]
  return { ...prompt, split: 'heldout', origin: { ...prompt.origin, taskId: 'heldout', trajectoryIds: [node] } }
})
const untargeted = shortPool(12, 5)
const training = untargeted.filter(({ split }) => split === 'train')

describe.skipIf(noPython)('evaluation during training, with the real worker', () => {
  const runs = temporaryDirectory()
  const evaluation = { prompts: 5, samples: 1, every: 2, everyPrompts: 5, everySamples: 2, atEnd: true } as const
  let model = ''
  const options = (id: string, extra: Partial<TrainingOptions> = {}, bestBy = 'exactly_right'): TrainingOptions => ({
    config: tinyConfig(model, runs, {
      run: { dir: runs, steps: 5, checkpointEvery: 5, keepCheckpoints: 1, id },
      model: { maxPromptTokens: 400 },
      evaluation: { ...evaluation, bestBy: bestBy as 'exactly_right' },
    }),
    pool: [...training, ...withTargets],
    judge: letterJudge,
    source,
    progress: captured(),
    ...extra,
  })

  beforeAll(() => {
    model = makeTinyModel()
  })

  it('leaves evaluations of every so many steps and the last, with one and the same base', async () => {
    const { directory } = await runTraining(options('whole'))
    expect(readdirSync(join(directory, 'eval')).toSorted()).toStrictEqual([
      'final',
      'step-000002',
      'step-000004',
      'step-000005',
    ])
    const [first, second] = await Promise.all(
      ['step-000002', 'step-000004'].map((name) => loadEvaluation(join(directory, 'eval', name))),
    )
    expect(second!.base).toStrictEqual(first!.base)
    expect(second!.trained.map(({ seed }) => seed)).toStrictEqual(first!.trained.map(({ seed }) => seed))
    expect(first!.summary).toMatchObject({ step: 2, policyVersion: 2, decoding: { samples: 2 } })
    expect(first!.summary.adapter?.directory).toBe('adapters/v000002')
    expect(existsSync(join(directory, 'eval', 'final', 'prompts.jsonl'))).toBe(true)
  }, 600_000)

  it('keeps the checkpoint of the best one, though newer ones push others out', async () => {
    const run = new RunDirectory(runs, 'whole')
    // A random model is never right: all steps are equal, and the earliest is the best.
    expect(await readBest(run)).toMatchObject({ step: 2, metric: 'exactly_right', value: 0 })
    expect(readdirSync(run.checkpoints).toSorted()).toStrictEqual(['step-000002', 'step-000005'])
    const best = await chooseCheckpoint(run, 'best')
    expect(best).toMatchObject({ state: { nextStep: 2 }, adapter: { version: 2 } })
    expect((await chooseCheckpoint(run, 'last')).state.nextStep).toBe(5)
    await expect(chooseCheckpoint(run, 4)).rejects.toThrow('has no checkpoint after 4 steps')
  })

  it('changes nothing about the training itself', async () => {
    const plain = options('plain')
    const config = { ...plain.config, evaluation: { ...plain.config.evaluation, every: null, atEnd: false } }
    const outcome = await runTraining({ ...plain, config })
    const weights = (directory: string) => readFileSync(join(directory, 'adapters/v000005/adapter_model.safetensors'))
    expect(weights(outcome.directory).equals(weights(join(runs, 'whole')))).toBe(true)
    expect(await readBest(new RunDirectory(runs, 'plain'))).toBeNull()
  }, 600_000)

  it('gives an evaluation up when it is asked to stop, and still saves every step', async () => {
    const stop = new AbortController()
    const watching = {
      ...captured(true),
      write: (text: string) => void (text.includes('evaluation step-000002: 1/') && stop.abort(new Error('stop'))),
    }
    const stopped = await runTraining(options('stopped', { stop: stop.signal, progress: watching }))
    expect(stopped).toMatchObject({ kind: 'stopped', step: 2 })
    expect(existsSync(join(runs, 'stopped/eval/step-000002/summary.json'))).toBe(false)
    const resumed = await runTraining(options('stopped', { resume: 'stopped' }))
    expect(resumed).toMatchObject({ kind: 'finished', step: 5 })
    expect(await readBest(new RunDirectory(runs, 'stopped'))).toMatchObject({ step: 4 })
  }, 600_000)

  it('refuses to choose by accuracy where no prompt has a target', async () => {
    await expect(runTraining(options('blind', { pool: untargeted }))).rejects.toThrow(
      'evaluation.every cannot tell a best checkpoint by exactly_right: no held-out prompt has a target',
    )
  }, 600_000)
})
