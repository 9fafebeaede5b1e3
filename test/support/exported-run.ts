import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RolloutRecord } from '../../data/records/run.ts'
import { RunDirectory } from '../../trainer/run-directory.ts'

const at = (attempt: number, step: number): string => new Date(Date.UTC(2026, 0, attempt, 0, 0, step)).toISOString()

/** A line of metrics.jsonl; the numbers tell its attempt and step. */
export const metricsLine = (attempt: number, step: number): string =>
  `${JSON.stringify({
    ...{ step, attempt, at: at(attempt, step), from_version: step, policy_version: step + 1 },
    ...{ reward: attempt + step / 10, 'reward/n1': step, 'reward/n1/json_valid': 0.5, kl: step === 0 ? null : 0.01 },
  })}\n`

/** Text that a spreadsheet would run, and that a careless writer of CSV would break on. */
export const hostile = '=HYPERLINK("http://x","y"),\r\n"quoted" | \u2028 é'

const rollout = (attempt: number, step: number): RolloutRecord => ({
  attempt,
  group: {
    ...{ promptId: 'p1', node: 'n1', step, policyVersion: step, policyName: 'base', seed: 0, promptTokenIds: [] },
    completions: [
      { index: 0, text: hostile, tokenIds: [1, 2], logprobs: [-1, -1], finishReason: 'stop' },
      { index: 1, text: '', tokenIds: [], logprobs: [], finishReason: 'length' },
    ],
  },
  verdicts: [{ score: 0.5, reason: '@sum', model: 'm', cached: false, latencyMs: 1 }, null],
  scores: [
    {
      kind: 'scored',
      total: attempt + step / 10,
      components: { json_valid: { raw: 1, weight: 0.5, weighted: 0.5, detail: '' } },
    },
    { kind: 'unscored', component: 'judge', reason: 'no verdict' },
  ],
  advantages: { promptId: 'p1', node: 'n1', mean: 1, std: 1, advantages: [0, null], skipped: 'too_few_scored' },
})

/** A run whose steps 2 and 3 were made again by a second attempt, which went on to step 4. */
export const writeResumedRun = (runsDir: string, id: string): RunDirectory => {
  const run = new RunDirectory(runsDir, id)
  mkdirSync(join(run.root, 'rollouts'), { recursive: true })
  writeFileSync(run.resolvedConfig, JSON.stringify({ values: { run: { steps: 5 }, grpo: { beta: 0.04 } } }))
  const first = [0, 1, 2, 3].map((step) => metricsLine(1, step))
  const second = [2, 3, 4].map((step) => metricsLine(2, step))
  writeFileSync(run.metrics, [...first, ...second, '{"step": 5, "torn'].join(''))
  for (const step of [0, 1, 2, 3, 4])
    writeFileSync(run.rollouts(step), `${JSON.stringify(rollout(step < 2 ? 1 : 2, step))}\n`)
  return run
}

/** Rewards of that run's steps that count. */
export const rewards = [1, 1.1, 2.2, 2.3, 2.4]
