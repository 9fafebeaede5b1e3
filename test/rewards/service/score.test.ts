import { describe, expect, it } from 'vitest'
import { nodeIds } from '../../../data/records/node.ts'
import { promptId } from '../../../data/nodes/render.ts'
import { referenceJudge } from '../../../judge/reference.ts'
import { rewardNames } from '../../../rewards/registry.generated.ts'
import { ScoreReply } from '../../../rewards/service/wire.ts'
import { createScorer } from '../../../rewards/scorer.ts'
import { goldCompletions, samplePrompts } from '../../judge/samples.ts'
import { appWith, failingOn, hardened, inline, item, paper, patientJudge, post, structural } from './support.ts'

const score = async (app: ReturnType<typeof appWith>, items: unknown[]) => {
  const { status, json } = await post(app, '/v1/score', { items })
  expect(status).toBe(200)
  return ScoreReply.parse(json)
}

describe('POST /v1/score', () => {
  it('scores completions of all nodes in one call, in order, under their ids', async () => {
    const { results, maximum, profile } = await score(
      appWith({ judge: referenceJudge }),
      nodeIds.map((node) => item(`of ${node}`, node)),
    )
    expect(profile).toBe('paper')
    expect(maximum).toBeCloseTo(5.6, 9)
    expect(results.map(({ id }) => id)).toStrictEqual(nodeIds.map((node) => `of ${node}`))
    for (const { total, components, unscored } of results) {
      expect(unscored).toBeNull()
      expect(Object.keys(components)).toStrictEqual([...rewardNames])
      expect(total).toBeCloseTo(5.6, 9)
      const sum = Object.values(components).reduce((all, one) => all + (one?.weighted ?? Number.NaN), 0)
      expect(sum).toBeCloseTo(total ?? Number.NaN, 9)
    }
  })

  it.each([paper, hardened])('gives the very scores that training gives', async (rewards) => {
    const texts = ['no envelope', ...Object.values(goldCompletions), '<answer>{}</answer>']
    const scorer = createScorer(rewards, referenceJudge)
    const { results } = await score(
      appWith({ rewards, judge: referenceJudge }),
      texts.map((text, i) => item(String(i), 'n2', text)),
    )
    for (const [i, text] of texts.entries()) {
      const expected = await scorer.score(samplePrompts.n2, text)
      expect(expected).toStrictEqual({
        kind: 'scored',
        total: results[i]?.total,
        components: results[i]?.components,
      })
    }
  })

  it('has no judge component without a judge', async () => {
    const { results, maximum } = await score(appWith(), [item('a')])
    expect(maximum).toBeCloseTo(4.6, 9)
    expect(Object.keys(results[0]?.components ?? {})).toStrictEqual(structural)
    expect(results[0]?.total).toBeCloseTo(4.6, 9)
  })

  it('answers an empty list with an empty list', async () => {
    expect(await score(appWith(), [])).toMatchObject({ results: [] })
  })

  it('keeps two items of one id apart', async () => {
    const { results } = await score(appWith(), [item('same'), item('same', 'n1', 'nothing')])
    expect(results.map(({ id, total }) => [id, total])).toStrictEqual([
      ['same', expect.closeTo(4.6, 9)],
      ['same', 0],
    ])
  })

  it('lets no bad item spoil the others', async () => {
    const good = item('good')
    const bad: readonly (readonly [unknown, string | null, string, string])[] = [
      [7, null, 'item', 'must be an object'],
      [{ ...good, id: 7 }, null, 'id', 'must be text'],
      [{ ...good, completion: null }, 'good', 'completion', 'must be text'],
      [{ ...good, extra: 1 }, 'good', 'item', 'unknown key "extra"'],
      [{ ...good, prompt: 'n1' }, 'good', 'prompt', 'must be an object'],
      [{ ...good, prompt: { id: 'nobody' } }, 'good', 'prompt', 'no prompt of the opened pool'],
      [{ ...good, prompt: { ...inline('n1'), node: 'n9' } }, 'good', 'prompt', 'unknown node "n9"'],
      [{ ...good, prompt: { ...inline('n1'), facts: { task: 't' } } }, 'good', 'prompt', 'facts.step: is missing'],
      [{ ...good, prompt: { ...inline('n1'), messages: [] } }, 'good', 'prompt', 'messages'],
      [{ ...good, prompt: { ...inline('n1'), facts: inline('n3').facts } }, 'good', 'prompt', 'does not fit'],
    ]
    const { results } = await score(
      appWith({ judge: referenceJudge }),
      bad.flatMap(([one]) => [one, good]),
    )
    for (const [i, [, id, component, reason]] of bad.entries()) {
      const blank = Object.fromEntries(rewardNames.map((name) => [name, null]))
      expect(results[2 * i]).toStrictEqual({
        id,
        total: null,
        components: blank,
        unscored: { component, reason: expect.stringContaining(reason) },
      })
      expect(results[2 * i + 1]).toMatchObject({ id: 'good', total: expect.closeTo(5.6, 9), unscored: null })
    }
  })

  it('has no total where the judge fails, and still tells the other components', async () => {
    const { results } = await score(appWith({ judge: failingOn('payments') }), [item('a'), item('b', 'n1', 'nothing')])
    expect(results[0]).toMatchObject({
      total: null,
      components: { judge: null, json_valid: { weighted: 1 }, strict_format: { weighted: 0.5 } },
      unscored: { component: 'judge', reason: 'the endpoint is down' },
    })
    expect(results[1]).toMatchObject({ total: 0.5, unscored: null })
  })

  it('stops waiting for a verdict in time, and gives the rest of the batch', async () => {
    const { judge } = patientJudge()
    const app = appWith({ rewards: hardened, judge, timeoutMs: 20 })
    const { results } = await score(app, [item('late'), item('no verdict needed', 'n1', 'nothing')])
    expect(results[0]).toMatchObject({
      total: null,
      unscored: { component: 'judge', reason: 'no verdict within 0.02 s' },
    })
    expect(results[1]).toMatchObject({ total: 0, unscored: null })
  })

  it('gives equal answers to equal requests', async () => {
    const app = appWith({ judge: failingOn('mail') })
    const items = nodeIds.map((node) => item(node, node))
    expect(await score(app, items)).toStrictEqual(await score(app, items))
  })

  it('takes prompts of the opened pool by id', async () => {
    const prompts = new Map(Object.values(samplePrompts).map((prompt) => [prompt.id, prompt]))
    const app = appWith({ judge: referenceJudge, findPrompt: (id) => prompts.get(id) })
    const { results } = await score(app, [
      { id: 'a', prompt: { id: samplePrompts.n4.id }, completion: goldCompletions.n4 },
    ])
    expect(results[0]?.total).toBeCloseTo(5.6, 9)
  })

  it('takes whole lines of a pool, and tags for ids', async () => {
    const { node, messages, templateVersion } = samplePrompts.n5
    const line = { ...samplePrompts.n5, id: promptId(node, messages, templateVersion) }
    const { results } = await score(appWith({ judge: referenceJudge }), [
      { id: 'line', prompt: line, completion: goldCompletions.n5 },
      { id: 'tag', prompt: { ...inline('n5'), node: 'aggregate_and_decision' }, completion: goldCompletions.n5 },
    ])
    expect(results.map(({ total }) => total)).toStrictEqual([expect.closeTo(5.6, 9), expect.closeTo(5.6, 9)])
  })

  it('reads facts of a columnar data set, where absent keys are null', async () => {
    const widened = { ...inline('n3'), facts: { ...inline('n3').facts, task: null, step: null, rows: null } }
    const { results } = await score(appWith({ rewards: hardened }), [
      {
        id: 'a',
        prompt: { ...widened, target: { ...inline('n3').target, step: null } },
        completion: goldCompletions.n3,
      },
    ])
    expect(results[0]?.total).toBeCloseTo(4.6, 9)
  })

  it('cuts nothing from a completion: a stop token left in it is text', async () => {
    const { results } = await score(appWith(), [item('a', 'n1', `${goldCompletions.n1}<|im_end|>`)])
    expect(results[0]?.components['strict_format']?.raw).toBe(0)
  })
})

describe('GET /v1/components', () => {
  it('lists what counts, its weights, and the largest R', async () => {
    const response = await appWith({ rewards: hardened, judge: referenceJudge }).request('/v1/components')
    const json = (await response.json()) as { components: { name: string; weight: number; range: number[] }[] }
    expect(json).toMatchObject({ profile: 'hardened', judge: 'reference', maximum: expect.closeTo(5.6, 9) })
    expect(json.components.map(({ name }) => name)).toStrictEqual([...rewardNames])
    const best = json.components.reduce((sum, { weight, range }) => sum + weight * (range[1] ?? 0), 0)
    expect(best).toBeCloseTo(5.6, 9)
  })

  it('leaves the judge out without one', async () => {
    const response = await appWith().request('/v1/components')
    expect(await response.json()).toMatchObject({ judge: null, maximum: expect.closeTo(4.6, 9) })
  })
})
