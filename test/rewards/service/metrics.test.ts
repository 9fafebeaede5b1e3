import { describe, expect, it } from 'vitest'
import { appWith, failingOn, item, post } from './support.ts'

const metricsOf = async (app: ReturnType<typeof appWith>): Promise<string> => {
  const response = await app.request('/metrics')
  expect(response.headers.get('content-type')).toContain('version=0.0.4')
  return response.text()
}

/** One line of the text format: a comment with its keyword, or a series with its value. */
const line =
  /^(?:# (?:HELP|TYPE) [a-z_]+ .+|[a-z_]+(?:\{[a-z]+="(?:[^"\\\n]|\\.)*"(?:,[a-z]+="(?:[^"\\\n]|\\.)*")*\})? -?[\d.e+-]+)$/

describe('GET /metrics', () => {
  it('counts requests and completions', async () => {
    const app = appWith({ judge: failingOn('payments') })
    await post(app, '/v1/score', { items: [item('a'), item('b', 'n3', 'nothing'), item('c', 'n3', 'nothing'), 7] })
    await post(app, '/v1/score', '{')
    const text = await metricsOf(app)
    for (const expected of [
      'drift_grpo_requests_total{route="/v1/score",status="200"} 1',
      'drift_grpo_requests_total{route="/v1/score",status="400"} 1',
      'drift_grpo_completions_total{node="n1",unscored="judge"} 1',
      'drift_grpo_completions_total{node="n3",unscored=""} 2',
      'drift_grpo_completions_total{node="unknown",unscored="item"} 1',
      'drift_grpo_request_seconds_count{route="/v1/score"} 2',
      'drift_grpo_request_seconds_bucket{route="/v1/score",le="+Inf"} 2',
      'drift_grpo_requests_in_flight 1',
    ]) {
      expect(text.split('\n')).toContain(expected)
    }
  })

  it('writes nothing but the text format, each family once, buckets that only grow', async () => {
    const app = appWith()
    for (const path of ['/v1/score', '/healthz']) await post(app, path, { items: [item('a')] })
    const text = await metricsOf(app)
    expect(text.endsWith('\n')).toBe(true)
    const lines = text.trimEnd().split('\n')
    expect(lines.filter((one) => !line.test(one))).toStrictEqual([])
    const families = lines.filter((one) => one.startsWith('# TYPE')).map((one) => one.split(' ')[2])
    expect(new Set(families).size).toBe(families.length)
    const buckets = lines
      .filter((one) => one.includes('_bucket{route="/v1/score"'))
      .map((one) => Number(one.split(' ')[1]))
    expect(buckets).toStrictEqual(buckets.toSorted((a, b) => a - b))
    expect(buckets.at(-1)).toBe(1)
  })

  it('does not grow with the paths that strangers ask for', async () => {
    const app = appWith()
    for (const path of ['/a', '/b', '/ng-rollout/1/verify', '/ng-rollout/2/verify']) await post(app, path, {})
    const text = await metricsOf(app)
    expect(text).toContain('drift_grpo_requests_total{route="none",status="404"} 2')
    expect(text).toContain('drift_grpo_requests_total{route="/ng-rollout/:rollout/verify",status="422"} 2')
  })
})
