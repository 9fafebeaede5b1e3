import { describe, expect, it } from 'vitest'
import type { Score, Verdict } from '../../data/records/reward.ts'
import { JudgeError, type Judge } from '../../judge/judge.ts'
import { referenceJudge } from '../../judge/reference.ts'
import { RewardsConfig } from '../../rewards/config.ts'
import { askAnew, createRescorer, fromRecord, recordElseAsk } from '../../rewards/rescore.ts'
import { createScorer } from '../../rewards/scorer.ts'
import { goldCompletions, samplePrompts } from '../judge/samples.ts'

const paper = RewardsConfig.parse({ profile: 'paper' })
const hardened = RewardsConfig.parse({ profile: 'hardened' })
const text = goldCompletions.n2
const prompt = samplePrompts.n2
const verdict: Verdict = { score: 0.25, reason: 'as said then', model: 'm', cached: false, latencyMs: 3 }

/** A judge that must not be asked. */
const silent: Judge = { name: 'silent', judge: () => Promise.reject(new Error('was asked')) }
const failing: Judge = { name: 'failing', judge: () => Promise.reject(new JudgeError('still down')) }

const judgeRaw = (score: Score): number | undefined =>
  score.kind === 'scored' ? score.components['judge']?.raw : undefined

describe('createRescorer', () => {
  it.each([paper, hardened])('gives what the scorer gave ($profile)', async (config) => {
    const scorer = createScorer(config, referenceJudge)
    const rescorer = createRescorer(config, askAnew(referenceJudge))
    for (const one of [text, 'no envelope', `${text} and more`, '']) {
      const { score } = await rescorer.rescore(prompt, { text: one, verdict: null, score: null })
      expect(score).toStrictEqual(await scorer.score(prompt, one))
    }
  })

  it('reuses a recorded verdict and asks nobody', async () => {
    for (const source of [fromRecord, recordElseAsk(silent)]) {
      const { score, verdict: used } = await createRescorer(paper, source).rescore(prompt, {
        text,
        verdict,
        score: null,
      })
      expect(judgeRaw(score)).toBe(0.25)
      expect(used).toBe(verdict)
    }
  })

  it('keeps a completion unscored for the recorded reason', async () => {
    const then: Score = { kind: 'unscored', component: 'judge', reason: 'the endpoint was down' }
    const { score } = await createRescorer(paper, fromRecord).rescore(prompt, { text, verdict: null, score: then })
    expect(score).toStrictEqual(then)
  })

  it('says so where the code now wants a verdict that was never recorded', async () => {
    const then = await createScorer(hardened, silent).score(prompt, 'no envelope')
    expect(then.kind).toBe('scored')
    const { score } = await createRescorer(paper, fromRecord).rescore(prompt, {
      text: 'no envelope',
      verdict: null,
      score: then,
    })
    expect(score).toStrictEqual({ kind: 'unscored', component: 'judge', reason: 'no verdict was recorded' })
  })

  it('leaves a completion that the sampler gave up on as it was', async () => {
    const aborted: Score = { kind: 'unscored', component: 'sampler', reason: 'aborted' }
    const rescored = await createRescorer(paper, askAnew(silent)).rescore(prompt, {
      text,
      verdict: null,
      score: aborted,
    })
    expect(rescored).toStrictEqual({ score: aborted, verdict: null })
  })

  it('asks where nothing was recorded, and takes a failure for data', async () => {
    const asked = createRescorer(paper, recordElseAsk(referenceJudge))
    expect(judgeRaw((await asked.rescore(prompt, { text, verdict: null, score: null })).score)).toBe(1)
    const { score } = await createRescorer(paper, recordElseAsk(failing)).rescore(prompt, {
      text,
      verdict: null,
      score: null,
    })
    expect(score).toStrictEqual({ kind: 'unscored', component: 'judge', reason: 'still down' })
  })

  it('has no judge component without a source', async () => {
    const rescorer = createRescorer(paper, null)
    expect(rescorer.names).not.toContain('judge')
    expect(judgeRaw((await rescorer.rescore(prompt, { text, verdict, score: null })).score)).toBeUndefined()
  })
})
