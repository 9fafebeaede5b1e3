import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../../data/package-root.ts'
import { readPool } from '../../../data/pool/pool-file.ts'
import { nodeContracts, nodeIds } from '../../../data/records/node.ts'
import type { Prompt } from '../../../data/records/prompt.ts'
import type { EvaluationSample } from '../../../data/records/run.ts'
import { isExactlyRight } from '../../../judge/accuracy.ts'
import { referenceJudge } from '../../../judge/reference.ts'
import { RewardsConfig } from '../../../rewards/config.ts'
import { rewardNames } from '../../../rewards/registry.generated.ts'
import { createScorer } from '../../../rewards/scorer.ts'
import { expectNoRewardRegression, type NoRegressionOptions } from '../../../trainer/evaluation/expect-no-regression.ts'
import { loadEvaluation, sideOf, type RecordedEvaluation } from '../../../trainer/evaluation/load.ts'
import { regressionVerdict } from '../../../trainer/evaluation/regression.ts'
import { rewardIdentity } from '../../../trainer/evaluation/identity.ts'
import { dealEqualRuns } from '../../support/equal-runs.ts'
import { writeEvaluation } from '../../support/evaluations.ts'
import { temporaryDirectory } from '../../support/tiny-training.ts'

/** A real evaluation of the toy model: 50 held-out prompts, 2 samples each (test/fixtures/record-evaluation.ts). */
const fixture = join(packageRoot(), 'test', 'fixtures', 'evaluation')
const rewards = RewardsConfig.parse({ profile: 'hardened' })
const scorer = createScorer(rewards, referenceJudge)

let recorded: RecordedEvaluation
const prompts = new Map<string, Prompt>()
beforeAll(async () => {
  recorded = await loadEvaluation(fixture)
  for await (const prompt of readPool(join(fixture, 'prompts.jsonl'))) prompts.set(prompt.id, prompt)
})

/** The recorded completions as today's code scores them; `alter` plants a fault. */
const scoredToday = async (
  samples: readonly EvaluationSample[],
  alter: (sample: EvaluationSample) => string = ({ completion }) => completion.text,
): Promise<EvaluationSample[]> =>
  await Promise.all(
    samples.map(async (sample) => {
      const prompt = prompts.get(sample.promptId)!
      const text = alter(sample)
      return { ...sample, ...(await scorer.assess(prompt, text)), exactlyRight: isExactlyRight(prompt, text) }
    }),
  )

const write = (trained: readonly EvaluationSample[]): string => {
  const { name, ...conditions } = recorded.summary
  const { decoding, promptSetHash, targetSetHash, judge, rewardMaximum, rewards: profile } = conditions
  const kept = { name, decoding, promptSetHash, targetSetHash, judge, rewardMaximum, rewards: profile }
  return writeEvaluation(join(temporaryDirectory(), 'eval'), recorded.base, trained, kept)
}

/** What the gate says where it must fail. The fixture has ten prompts a node, too few for the default alpha. */
const failure = (options: NoRegressionOptions): Promise<string> =>
  expectNoRewardRegression({ ...options, alpha: 0.05 }).then(
    () => 'it passed',
    (error: Error) => error.message,
  )

const levels = ['total', 'node', 'component', 'accuracy'] as const

describe('the gate on this project’s own held-out evaluation', () => {
  it('finds that training helped', async () => {
    const { tests } = await expectNoRewardRegression({ trained: fixture })
    expect(tests.every(({ delta }) => delta > 0)).toBe(true)
  })

  it('finds that today’s rewards give recorded completions what they gave then', async () => {
    const today = write(await scoredToday(recorded.trained))
    expect(rewardIdentity(rewards, scorer).hash).toBe(recorded.summary.rewards.hash)
    await expectNoRewardRegression({ base: fixture, trained: today, failOn: levels })
    await expectNoRewardRegression({ base: today, trained: fixture, failOn: levels })
  })

  it.each(rewardNames)('catches a component that is broken, by its name: %s', async (name) => {
    const broken = recorded.trained.map((sample): EvaluationSample => {
      if (sample.score.kind !== 'scored') return sample
      const { [name]: lost, ...rest } = sample.score.components
      const components = { ...rest, [name]: { ...lost!, raw: 0, weighted: 0 } }
      return { ...sample, score: { ...sample.score, components, total: sample.score.total - lost!.weighted } }
    })
    const message = await failure({ base: fixture, trained: write(broken), failOn: ['component'] })
    expect(message.split('\n').at(-1)).toMatch(new RegExp(`^REGRESSION: (n\\d \\w+: ${name}(; )?){5}$`))
  })

  it.each(nodeIds)(
    'catches a node whose answers are no longer in their envelope, by its name: %s',
    async (degraded) => {
      const samples = await scoredToday(recorded.trained, ({ node, completion: { text } }) =>
        node === degraded ? text.replace('</answer>', '') : text,
      )
      const message = await failure({ base: fixture, trained: write(samples), failOn: ['node'] })
      expect(message.split('\n').at(-1)).toBe(`REGRESSION: ${degraded} ${nodeContracts[degraded].tag}: reward`)
    },
  )

  it('catches answers that look alike but are wrong', async () => {
    const flipped = await scoredToday(recorded.trained, ({ promptId, completion: { text } }) => {
      const target = prompts.get(promptId)?.target
      const wrong = target?.node === 'n1' && target.isAligned === 'Y' ? 'N' : 'Y'
      return text.replace(/"is_aligned": ?"[YN]"/, `"is_aligned": "${wrong}"`)
    })
    const message = await failure({ base: fixture, trained: write(flipped), failOn: ['accuracy'] })
    expect(message).toMatch(/^REGRESSION: .*n1 classify_drift: accuracy/m)
  })

  it('refuses another judge', async () => {
    const trained = writeEvaluation(join(temporaryDirectory(), 'eval'), recorded.base, recorded.trained, {
      ...recorded.summary,
      judge: 'llm some-judge',
    })
    const gate = expectNoRewardRegression({ base: fixture, trained })
    await expect(gate).rejects.toThrow('judge (reference and llm some-judge)')
  })
})

describe('runs that do not differ', () => {
  it('pass, each compared with itself, under any seed', () => {
    const side = sideOf(recorded, 'trained')
    const verdicts = Array.from({ length: 40 }, (_, seed) =>
      regressionVerdict(side, side, { failOn: levels, seed, resamples: 50 }),
    )
    expect(verdicts.filter(({ verdict }) => verdict !== 'pass')).toStrictEqual([])
  })

  it('are failed no more often than alpha says, over all tests together', () => {
    const deals = 120
    const side = sideOf(recorded, 'trained')
    const alarms = Array.from({ length: deals }, (_, seed) => {
      const [one, other] = dealEqualRuns(side, seed)
      return regressionVerdict(one, other, { seed, resamples: 200, minDelta: 0, alpha: 0.05 }).verdict === 'regression'
    }).filter(Boolean).length
    // Of 120 deals with a chance of 1 in 20, more than 15 would come up about three times in ten thousand.
    expect(alarms).toBeLessThanOrEqual(15)
  })
})
