import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../../data/package-root.ts'
import { openPool } from '../../../data/pool/open.ts'
import { PoolConfig } from '../../../data/pool/config.ts'
import type { Prompt } from '../../../data/records/prompt.ts'
import { JudgeError, type Judge } from '../../../judge/judge.ts'
import { referenceJudge } from '../../../judge/reference.ts'
import { rewardNames } from '../../../rewards/registry.generated.ts'
import { createRewardApp } from '../../../rewards/service/app.ts'
import { serveRewards, type RewardServer } from '../../../rewards/service/server.ts'
import { temporaryDirectory } from '../../support/tiny-training.ts'
import { hardened } from './support.ts'

const python = join(packageRoot(), '.venv/trl/bin/python')
const steps = 2
const batch = 16

/** Fails on the second completion that it sees of each prompt, which leaves three of a group of four. */
const sometimesFailing = (): Judge => {
  const seen = new Map<string, number>()
  return {
    name: 'sometimes failing',
    judge: async (request) => {
      const count = (seen.get(request.prompt.id) ?? 0) + 1
      seen.set(request.prompt.id, count)
      if (count === 2) throw new JudgeError('the endpoint is down')
      return await referenceJudge.judge(request)
    },
  }
}

type Metrics = Readonly<Record<string, number>>

/** Runs the example that the documentation shows, and reads what it prints. */
const train = async (server: RewardServer, prompts: readonly Prompt[]): Promise<readonly Metrics[]> => {
  const directory = temporaryDirectory()
  const pool = join(directory, 'pool.jsonl')
  writeFileSync(pool, prompts.map((prompt) => `${JSON.stringify(prompt)}\n`).join(''))
  const script = join(packageRoot(), 'trainer/python/examples/train_with_trl.py')
  const child = spawn(
    python,
    [script, '--pool', pool, '--service', server.url, '--steps', String(steps), '--out', join(directory, 'out')],
    {
      cwd: packageRoot(),
      env: {
        ...process.env,
        PYTHONPATH: join(packageRoot(), 'trainer/python'),
        HF_HUB_OFFLINE: '1',
        OMP_NUM_THREADS: '1',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  if (code !== 0) throw new Error(stderr)
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{"step"'))
    .map((line) => JSON.parse(line) as Metrics)
    .filter((metrics) => 'reward' in metrics)
}

describe.skipIf(!existsSync(python))('TRL (skipped without .venv/trl, which node scripts/setup-trl.mjs makes)', () => {
  let prompts: readonly Prompt[] = []
  let server: RewardServer
  let logged: readonly Metrics[] = []
  let counted = ''

  beforeAll(async () => {
    const { train: own, heldout } = await openPool(PoolConfig.parse({ kind: 'world', train: 20, heldout: 5 }), 0)
    prompts = [...own, ...heldout]
    const byId = new Map(prompts.map((prompt) => [prompt.id, prompt]))
    const app = createRewardApp({ rewards: hardened, judge: sometimesFailing(), findPrompt: (id) => byId.get(id) })
    server = await serveRewards(app, { host: '127.0.0.1', port: 0 })
    logged = await train(server, prompts)
    counted = await (await fetch(`${server.url}/metrics`)).text()
  }, 600_000)

  afterAll(async () => {
    server.abort()
    await server.close()
  })

  it('trains with the components as its reward functions', () => {
    expect(logged).toHaveLength(steps)
    for (const metrics of logged) {
      for (const name of rewardNames) expect(metrics).toHaveProperty(`rewards/${name}/mean`)
      expect(metrics['grad_norm']).toBeGreaterThan(0)
    }
  })

  it('has R as its reward: unscored rows are in no mean, so the weighted means of the components sum to it', () => {
    for (const metrics of logged) {
      const sum = rewardNames.reduce(
        (all, name) => all + hardened.maxima[name] * (metrics[`rewards/${name}/mean`] ?? Number.NaN),
        0,
      )
      expect(metrics['reward']).toBeCloseTo(sum, 4)
    }
  })

  it('asks once a batch for all components together', () => {
    expect(counted).toContain(`drift_grpo_requests_total{route="/v1/score",status="200"} ${steps}\n`)
    const completions = [...counted.matchAll(/^drift_grpo_completions_total\{.*\} (\d+)$/gm)]
    expect(completions.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(steps * batch)
  })

  it('went on although the judge failed on some', () => {
    expect(counted).toMatch(/^drift_grpo_completions_total\{node="n\d",unscored="judge"\} [1-9]/m)
  })
})
