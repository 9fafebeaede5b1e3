import type { FailureKind } from './failure.ts'

/** What was asked of the endpoint and what came of it. */
export class Tally {
  requests = 0
  retries = 0
  promptTokens = 0
  completionTokens = 0
  readonly failures: Partial<Record<FailureKind, number>> = {}

  fail(kind: FailureKind): void {
    this.failures[kind] = (this.failures[kind] ?? 0) + 1
  }
}
