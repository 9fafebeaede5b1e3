import { createHash } from 'node:crypto'
import type { StoredVerdict } from '../../../judge/cache/entry.ts'

/** The key of question number n, spread like real ones. */
export const keyOf = (n: number): string => createHash('sha256').update(`question ${n}`).digest('hex')

/** What `writer` says about question n. */
export const verdictOf = (n: number, writer = 'a'): StoredVerdict => ({
  score: (n % 101) / 100,
  reason: `writer ${writer} on question ${n}`,
  model: 'judge',
  rubrics: 'abcdef12',
  node: 'n1',
  promptId: '0123456789abcdef',
  promptTokens: 900,
  completionTokens: 60,
  at: '2026-01-01T00:00:00.000Z',
})
