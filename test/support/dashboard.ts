import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageRoot } from '../../data/package-root.ts'
import type { RunStatus } from '../../data/records/run.ts'
import { serveRewards as serve } from '../../rewards/service/server.ts'
import { createDashboard } from '../../trainer/dashboard/app.ts'
import type { DashboardAccess } from '../../trainer/dashboard/guard.ts'
import { sourceAssets } from './page-assets.ts'

const fixture = (...parts: string[]): string => join(packageRoot(), 'test', 'fixtures', ...parts)

/** A line of metrics.jsonl. */
export const metricsLine = (step: number, attempt: number, reward: number, extra: object = {}): string =>
  `${JSON.stringify({ step, attempt, at: '2026-01-01T00:00:00.000Z', from_version: step, policy_version: step + 1, reward, 'reward/n1': reward, 'reward/n1/judge': 0.25, step_time: 1, ...extra })}\n`

export const statusOf = (given: Partial<RunStatus> = {}): RunStatus => ({
  state: 'finished',
  step: 2,
  steps: 2,
  policyVersion: 2,
  adapter: null,
  attempt: 1,
  pid: 1,
  updatedAt: '2026-01-01T00:00:00.000Z',
  message: null,
  ...given,
})

/** A directory with one run: recorded rollouts and evaluation, made-up metrics. */
export const makeRuns = async (
  id = 'mine',
): Promise<{ directory: string; run: string; remove: () => Promise<void> }> => {
  const directory = await mkdtemp(join(tmpdir(), 'drift-grpo-dashboard-'))
  const run = join(directory, id)
  await mkdir(run)
  await cp(fixture('recorded-run'), run, { recursive: true })
  await cp(fixture('evaluation'), join(run, 'eval', 'final'), { recursive: true })
  await writeFile(join(run, 'metrics.jsonl'), metricsLine(0, 1, 1) + metricsLine(1, 1, 2))
  await writeFile(join(run, 'status.json'), JSON.stringify(statusOf()))
  return { directory, run, remove: () => rm(directory, { recursive: true }) }
}

export const loopback: DashboardAccess = { token: null, loopbackOnly: true }

/** The app without a port. Problems fail the test that caused them. */
export const dashboardApp = (directory: string, access = loopback) =>
  createDashboard({ directory, access, assets: sourceAssets(), onProblem: () => undefined })

/** Served on loopback, on any free port unless one is given. */
export const serveDashboard = async (
  directory: string,
  port = 0,
): Promise<{ url: string; stop: () => Promise<void> }> => {
  const server = await serve(dashboardApp(directory), { host: '127.0.0.1', port })
  const stop = async (): Promise<void> => {
    server.abort()
    await server.close()
  }
  return { url: server.url, stop }
}
