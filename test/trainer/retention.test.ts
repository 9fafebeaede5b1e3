import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { LoopState } from '../../trainer/checkpoint.ts'
import { prune, versionOf } from '../../trainer/retention.ts'
import { RunDirectory } from '../../trainer/run-directory.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const state = (nextStep: number, adapter: string): LoopState => ({
  ...{ runId: 'r', nextStep, policyVersion: nextStep, policyName: 'p', adapter, totalTokens: 1 },
})

const write = (path: string, text: string): void => {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
}

describe('what a run keeps', () => {
  let run: RunDirectory
  beforeEach(() => {
    run = new RunDirectory(temporaryDirectory(), 'run')
    for (const step of Array.from({ length: 12 }, (_, i) => i)) {
      write(run.rollouts(step), '{}\n')
      write(run.update(step), '{}\n')
      write(join(run.adapters, `v${String(step + 1).padStart(6, '0')}`, 'x'), '')
    }
    write(join(run.adapters, 'a2-v000006', 'x'), '')
    write(join(run.adapters, 'exported', 'x'), '')
    write(join(run.checkpoints, 'step-000006/loop.json'), JSON.stringify(state(6, 'a2-v000006')))
    write(join(run.checkpoints, 'step-000012/loop.json'), JSON.stringify(state(12, 'v000012')))
  })
  const kept = (directory: string): string[] => readdirSync(directory).toSorted()

  it('are the adapters of its checkpoints and those that a sampler may hold, of whatever attempt, and what is not its own', async () => {
    await prune(run, state(12, 'v000012'), null)
    expect(kept(run.adapters)).toEqual(['a2-v000006', 'exported', 'v000010', 'v000011', 'v000012'])
  })

  it('are all rollouts and updates, or as many as are wanted, however often it is pruned', async () => {
    await prune(run, state(12, 'v000012'), null)
    expect(kept(run.at('rollouts'))).toHaveLength(12)
    for (const _ of [1, 2]) {
      await prune(run, state(12, 'v000012'), 3)
      expect(kept(run.at('rollouts'))).toEqual(['step-000009.jsonl', 'step-000010.jsonl', 'step-000011.jsonl'])
      expect(kept(run.at('updates'))).toEqual(['step-000009.json', 'step-000010.json', 'step-000011.json'])
    }
  })

  it('knows its own adapters by their names', () => {
    expect(['v000012', 'a3-v1234567', 'v12', 'exported', '.v000012.7.tmp'].map(versionOf)).toEqual([
      12,
      1_234_567,
      null,
      null,
      null,
    ])
  })
})
