import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ErrorReply, mostItems } from '../../../rewards/service/wire.ts'
import { costlyShape } from '../../../rewards/service/shape.ts'
import { goldCompletions } from '../../judge/samples.ts'
import { appWith, inline, item, labelOf, post } from './support.ts'

const routes = ['/v1/score', '/v1/openrlhf', '/v1/slime', '/verify', '/aggregate_metrics', '/seed_session']
const scoring = routes.slice(0, 4)
const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

const send = async (path: string, body: string | Uint8Array<ArrayBuffer>, headers = {}, app = appWith()) => {
  const response = await app.request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  return { status: response.status, json: await response.json() }
}

/** Every refusal has the one shape, and says nothing of how the program is made. */
const expectRefusal = (answer: { status: number; json: unknown }, status: number, code: string): void => {
  expect(answer.status).toBe(status)
  expect(ErrorReply.parse(answer.json).error.code).toBe(code)
  expect(JSON.stringify(answer.json)).not.toMatch(/\.ts|node_modules|Error:/)
}

describe.each(routes)('%s and hostile bodies', (path) => {
  it.each([
    ['nothing', ''],
    ['half an object', '{"items": ['],
    ['no JSON', 'items=1'],
    ['two values', '{} {}'],
    ['a number that is none', '{"items": NaN}'],
  ])('refuses %s', async (_, body) => {
    expectRefusal(await send(path, body), 400, 'invalid_json')
  })

  it('refuses bytes that are not UTF-8', async () => {
    expectRefusal(await send(path, Uint8Array.from([0x22, 0xc3, 0x28, 0x22])), 400, 'invalid_json')
  })

  it.each(['null', '[]', '"x"', '7', 'true'])('refuses %s', async (body) => {
    expectRefusal(await send(path, body), 422, 'invalid_body')
  })

  it.each([65, 100_000])('refuses nesting %i deep', async (depth) => {
    expectRefusal(await send(path, `{"label": ${deep(depth)}}`), 422, 'invalid_body')
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', ''])('refuses the media type %j', async (type) => {
    expectRefusal(await send(path, '{}', { 'content-type': type }), 415, 'unsupported_media_type')
  })

  it('refuses GET', async () => {
    const response = await appWith().request(path)
    expectRefusal({ status: response.status, json: await response.json() }, 405, 'method_not_allowed')
  })

  it('refuses a body above the limit, of known and of unknown length', async () => {
    const body = JSON.stringify({ items: [item('a')] })
    const app = appWith({ maxBodyBytes: 100 })
    expectRefusal(await send(path, body, { 'content-length': String(body.length) }, app), 413, 'too_large')
    expectRefusal(await send(path, body, {}, app), 413, 'too_large')
  })
})

describe('values of wrong types', () => {
  it.each([
    ['/v1/score', { items: {} }],
    ['/v1/score', {}],
    ['/v1/score', { items: [], more: 1 }],
    ['/v1/openrlhf', { query: 'text', prompts: [], labels: [] }],
    ['/v1/openrlhf', { query: [null], prompts: [''], labels: [''] }],
    ['/v1/slime', { prompt: 7, response: '', label: '' }],
    ['/v1/slime', { prompt: '', response: null, label: '' }],
    ['/verify', { responses_create_params: {}, response: {} }],
    ['/verify', { responses_create_params: {}, response: { output: [null] } }],
    ['/aggregate_metrics', { verify_responses: [{ reward: null }] }],
    ['/seed_session', { resources_session_id: 7 }],
  ])('%s refuses %j', async (path, body) => {
    const { status, json } = await post(appWith(), path, body)
    expectRefusal({ status, json }, 422, 'invalid_body')
    expect(ErrorReply.parse(json).error.issues.length).toBeGreaterThan(0)
  })

  it('are named with their place', async () => {
    const { json } = await post(appWith(), '/v1/openrlhf', { query: ['a', 7], prompts: ['', ''], labels: ['', ''] })
    expect(ErrorReply.parse(json).error.issues[0]?.path).toBe('query.1')
  })

  it('never break a route', async () => {
    const app = appWith()
    const body = fc.dictionary(
      fc.constantFrom(...'items query prompts labels prompt response label responses_create_params'.split(' ')),
      fc.oneof(fc.jsonValue(), fc.constant([item('a')]), fc.constant(labelOf('n1')), fc.constant('{"facts": 1}')),
    )
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...scoring), body, async (path, value) => {
        const { status, json } = await post(app, path, value)
        expect([200, 422]).toContain(status)
        if (status === 422) ErrorReply.parse(json)
      }),
      { numRuns: 300 },
    )
  })

  it('never break an item: label and prompt may be any JSON', async () => {
    const app = appWith()
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 6 }), async (value) => {
        const items = [
          { id: 'a', prompt: value, completion: '' },
          { id: 'b', prompt: { ...inline('n4'), facts: value }, completion: '' },
          { id: 'c', prompt: { ...inline('n4'), target: value }, completion: '' },
        ]
        expect((await post(app, '/v1/score', { items })).status).toBe(200)
        expect([200, 422]).toContain((await post(app, '/v1/slime', { prompt: '', response: '', label: value })).status)
      }),
      { numRuns: 200 },
    )
  })
})

it('refuses a label whose text is nested deep', async () => {
  for (const depth of [65, 100_000]) {
    const label = `{"node": "n4", "facts": ${deep(depth)}}`
    const { status, json } = await post(appWith(), '/v1/slime', { prompt: '', response: '', label })
    expectRefusal({ status, json }, 422, 'invalid_body')
  }
})

describe('large bodies', () => {
  it('are refused beyond the number of items that can be answered', async () => {
    const items = Array.from({ length: mostItems + 1 }, () => 0)
    expectRefusal(await post(appWith(), '/v1/score', { items }), 422, 'invalid_body')
    expect((await post(appWith(), '/v1/score', { items: items.slice(1) })).status).toBe(200)
  })

  it.each(['x', '<answer>', '{"a":', '[', '"', '\ud800', '字', '\\'])('of %j are scored', async (piece) => {
    const text = piece.repeat(Math.ceil(1e6 / piece.length))
    const envelope = `<reasoning>\na b c\n</reasoning>\n<answer>\n${text}\n</answer>`
    const { status, json } = await post(appWith(), '/v1/score', {
      items: [item('a', 'n1', text), item('b', 'n1', envelope), item('c')],
    })
    expect(status).toBe(200)
    expect(json).toMatchObject({ results: [{ unscored: null }, { unscored: null }, { total: expect.closeTo(4.6, 9) }] })
  })

  it('do not keep other requests waiting to their end', async () => {
    const app = appWith()
    const order: string[] = []
    const items = Array.from({ length: 2000 }, (_, i) => item(String(i), 'n1', goldCompletions.n1))
    const large = post(app, '/v1/score', { items }).then(() => order.push('large'))
    const small = new Promise((resolve) => setImmediate(resolve))
      .then(() => app.request('/healthz'))
      .then(() => order.push('small'))
    await Promise.all([large, small])
    expect(order).toStrictEqual(['small', 'large'])
  })
})

describe('unknown keys', () => {
  it('are named without repeating the body', async () => {
    const keys = Array.from({ length: 10_000 }, (_, i) => `"key-${i}": 1`)
    const answer = await send('/v1/score', `{${keys.join(', ')}}`)
    expectRefusal(answer, 422, 'invalid_body')
    expect(JSON.stringify(answer.json).length).toBeLessThan(2000)
  })
})

describe('an object with millions of members', () => {
  it('is refused before it is built, wherever it stands', async () => {
    const many = `{${Array.from({ length: 1_500_000 }, (_, i) => `"k${i}":0`).join(',')}}`
    expectRefusal(await send('/v1/score', many), 413, 'too_large')
    expectRefusal(await send('/v1/score', `{"items": [{"id": "a", "prompt": ${many}}]}`), 413, 'too_large')
  })

  it('is one object: many small ones are counted on their own', () => {
    const limits = { depth: 9, members: 2 }
    expect(costlyShape('[{"a":1,"b":[{"c":1,"d":2}]},{"e":1,"f":2}]', limits)).toBeNull()
    expect(costlyShape('{"a":{"x":1,"y":2},"b":1,"c":2}', limits)).toBe('members')
    expect(costlyShape('{"a:b:c":"d:e:f","b":":"}', limits)).toBeNull()
    expect(costlyShape(']]}}{"a":1,"b":2}', limits)).toBeNull()
  })
})

const isDeeperThan = (text: string, depth: number): boolean => costlyShape(text, { depth, members: 1e9 }) === 'depth'

describe('a nesting', () => {
  it.each([
    ['1', 1, false],
    ['[]', 1, false],
    ['[[]]', 1, true],
    ['[[1], {"a": []}]', 2, true],
    ['[[1], {"a": 2}]', 2, false],
    ['["[[[", "\\\\\\"[[["]', 1, false],
    ['{"\\\\": [[]]}', 2, true],
  ])('%s, %i: %s', (text, limit, expected) => {
    expect(isDeeperThan(text, limit)).toBe(expected)
  })

  it('counts what parsing gives', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' }), (value) => {
        const [text, depth] = [JSON.stringify(value), depthOf(value)]
        expect([depth, depth + 1].map((limit) => isDeeperThan(`[${text}]`, limit))).toStrictEqual([true, false])
      }),
    )
  })
})
