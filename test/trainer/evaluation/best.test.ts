import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  findBest,
  forgetLaterEvaluations,
  readBest,
  stepEvaluation,
  writeBest,
} from '../../../trainer/evaluation/best.ts'
import { RunDirectory } from '../../../trainer/run-directory.ts'
import { makeSample, writeEvaluation } from '../../support/evaluations.ts'
import { temporaryDirectory } from '../../support/tiny-training.ts'

/** A run with evaluations after some steps: accuracy and judge of each. */
const runWith = (
  evaluations: Readonly<Record<number, readonly [right: boolean, judge: number]>>,
  judge = 'reference',
) => {
  const run = new RunDirectory(temporaryDirectory(), 'run')
  for (const [step, [right, verdict]] of Object.entries(evaluations)) {
    const name = stepEvaluation(Number(step))
    const samples = [makeSample({ promptId: 'a', node: 'n1', components: { judge: verdict }, right })]
    writeEvaluation(run.evaluation(name), samples, samples, { name, step: Number(step), judge })
  }
  return run
}

describe('the best checkpoint', () => {
  const run = runWith({ 10: [false, 0.9], 20: [true, 0.2], 30: [true, 0.5], 40: [false, 0.95] })

  it('is chosen by accuracy, not by what is trained on; of equals the earliest', async () => {
    expect(await findBest(run, 'exactly_right')).toMatchObject({ step: 20, value: 1, evaluation: 'step-000020' })
    expect(await findBest(run, 'judge')).toMatchObject({ step: 40, value: 0.95 })
    expect(await findBest(run, 'reward')).toMatchObject({ step: 40 })
  })

  it('is none without evaluations, and none that was made under other conditions than the newest', async () => {
    expect(await findBest(new RunDirectory(temporaryDirectory(), 'none'), 'reward')).toBeNull()
    const mixed = runWith({ 10: [true, 1] }, 'other judge')
    const samples = [makeSample({ promptId: 'a', node: 'n1', components: { judge: 0 }, right: false })]
    writeEvaluation(mixed.evaluation('step-000020'), samples, samples, { name: 'step-000020', step: 20 })
    expect(await findBest(mixed, 'exactly_right')).toMatchObject({ step: 20, value: 0 })
  })

  it('is not chosen past a damaged record, which is named with what to do', async () => {
    const damaged = runWith({ 10: [true, 1], 20: [true, 1] })
    writeFileSync(join(damaged.evaluation('step-000020'), 'summary.json'), '{"name": "st')
    const named = { boundary: 'checkpoint', remedy: expect.stringContaining('Remove') as string }
    await expect(findBest(damaged, 'reward')).rejects.toMatchObject(named)
    writeFileSync(damaged.at('best.json'), '')
    await expect(readBest(damaged)).rejects.toMatchObject(named)
  })

  it('is chosen again when a run goes back to an earlier step', async () => {
    const again = runWith({ 10: [false, 0.1], 20: [true, 0.2] })
    await writeBest(again, (await findBest(again, 'exactly_right'))!)
    await forgetLaterEvaluations(again, 15, 'exactly_right')
    expect(existsSync(join(again.root, 'eval', 'step-000020'))).toBe(false)
    expect(await readBest(again)).toMatchObject({ step: 10 })
    await forgetLaterEvaluations(again, 5, 'exactly_right')
    expect(await readBest(again)).toBeNull()
  })
})
