import { describe, expect, it } from 'vitest'
import { CallFailure, failureKinds, readRetryAfter } from '../../../judge/llm/failure.ts'

const now = Date.parse('2026-01-01T00:00:00Z')

describe('how long an endpoint asks to wait', () => {
  it.each<[Record<string, string>, number | null]>([
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': ' 0.5 ' }, 500],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' }, 60_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
    [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
    [{ 'retry-after': 'soon' }, null],
    [{}, null],
  ])('%j is %j ms', (headers, expected) => {
    expect(readRetryAfter(new Headers(headers), now)).toBe(expected)
  })

  it('is not known without headers', () => {
    expect(readRetryAfter(undefined, now)).toBeNull()
  })
})

describe('a failed try', () => {
  it('is tried again unless the endpoint will not, and speaks for an outage only where nobody answered', () => {
    const kinds = failureKinds.map((kind) => new CallFailure(kind, ''))
    expect(kinds.filter(({ retryable }) => !retryable).map(({ kind }) => kind)).toEqual(['refused'])
    expect(kinds.filter(({ speaksForOutage }) => speaksForOutage).map(({ kind }) => kind)).toEqual([
      'connection',
      'timed_out',
      'server_error',
    ])
  })
})
