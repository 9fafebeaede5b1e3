import { describe, expect, it } from 'vitest'
import { nodeIds } from '../../data/records/node.ts'
import { JudgeError, type Judge } from '../../judge/judge.ts'
import { referenceJudge } from '../../judge/reference.ts'
import { RewardsConfig } from '../../rewards/config.ts'
import { createScorer } from '../../rewards/scorer.ts'
import { goldCompletions, samplePrompts } from '../judge/samples.ts'

const paper = RewardsConfig.parse({ profile: 'paper' })
const hardened = RewardsConfig.parse({ profile: 'hardened' })

/** A judge that records what it was asked. */
const recording = (answer: () => number): Judge & { readonly asked: string[] } => {
  const asked: string[] = []
  return {
    name: 'recording',
    asked,
    judge: async ({ completion }) => {
      asked.push(completion)
      return { score: answer(), reason: 'recorded', model: 'recording', cached: false, latencyMs: 0 }
    },
  }
}

describe('createScorer', () => {
  it.each(nodeIds)('gives the maximum to a right completion of %s in both profiles', async (node) => {
    for (const config of [paper, hardened]) {
      const scorer = createScorer(config, referenceJudge)
      const score = await scorer.score(samplePrompts[node], goldCompletions[node])
      expect(score.kind === 'scored' && score.total).toBeCloseTo(scorer.maximum, 9)
    }
  })

  it('asks always in the paper profile, and only about readable answers in the hardened one', async () => {
    const texts = ['no envelope', goldCompletions.n1]
    for (const [config, expected] of [
      [paper, texts],
      [hardened, texts.slice(1)],
    ] as const) {
      const judge = recording(() => 0.5)
      await Promise.all(texts.map((text) => createScorer(config, judge).score(samplePrompts.n1, text)))
      expect(judge.asked).toStrictEqual(expected)
    }
  })

  it('hands out the verdict beside the score, where there was one', async () => {
    const scorer = createScorer(hardened, referenceJudge)
    expect(await scorer.assess(samplePrompts.n1, goldCompletions.n1)).toMatchObject({
      score: { kind: 'scored', components: { judge: { raw: 1 } } },
      verdict: { score: 1, model: 'reference' },
    })
    expect(await scorer.assess(samplePrompts.n1, 'no envelope')).toMatchObject({
      score: { kind: 'scored' },
      verdict: null,
    })
  })

  it('turns a failing judge into an unscored completion with its reason', async () => {
    const judge = recording(() => {
      throw new JudgeError('the endpoint is down', { retryable: true })
    })
    expect(await createScorer(paper, judge).score(samplePrompts.n1, goldCompletions.n1)).toStrictEqual({
      kind: 'unscored',
      component: 'judge',
      reason: 'the endpoint is down',
    })
  })

  it('leaves a prompt without a target unscored under the reference judge', async () => {
    const prompt = { ...samplePrompts.n1, target: null }
    const score = await createScorer(paper, referenceJudge).score(prompt, goldCompletions.n1)
    expect(score).toMatchObject({ kind: 'unscored', component: 'judge', reason: expect.stringContaining('no target') })
  })

  it('hides no fault of the program', async () => {
    const judge = recording(() => {
      throw new TypeError('undefined is not a function')
    })
    await expect(createScorer(paper, judge).score(samplePrompts.n1, goldCompletions.n1)).rejects.toThrow(TypeError)
  })
})
