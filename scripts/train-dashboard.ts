import { fork, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { hostname, setPriority } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RunDirectory } from '../trainer/run-directory.ts'

/** What the dashboard's process says once: where it is and what it asks for, or why it is not. */
export type DashboardMessage =
  | { readonly port: number; readonly url: string; readonly token: string }
  | { readonly problem: string }

/** Environment variable that keeps trainings from showing themselves. */
export const dashboardVariable = 'DRIFT_GRPO_DASHBOARD'

/** Nice: the training's own processes have 0 and go first. */
const lowerPriority = 5

export interface TrainDashboard {
  readonly isWanted: boolean
  readonly say: (text: string) => void
}

const program = (): string => {
  const built = fileURLToPath(new URL('train-dashboard-process.js', import.meta.url))
  return existsSync(built) ? built : built.replace(/js$/, 'ts')
}

const announce = (message: DashboardMessage, id: string, say: (text: string) => void): void => {
  if ('problem' in message) say(`no dashboard: ${message.problem}`)
  else {
    const { port, url, token } = message
    say(`dashboard: ${url}/runs/${encodeURIComponent(id)}?token=${token}`)
    say(`from another machine: ssh -L ${port}:127.0.0.1:${port} ${hostname()}, then the same address`)
  }
}

/** Starts it in a process group of its own, which Ctrl-C does not reach, and lets the training go first. */
const start = ({ id, root }: RunDirectory, say: (text: string) => void): ChildProcess => {
  const child = fork(program(), [dirname(root)], { detached: true, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  let hasSpoken = false
  const once = (message: DashboardMessage): void => {
    if (!hasSpoken) announce(message, id, say)
    hasSpoken = true
  }
  child.once('message', (message) => once(message as DashboardMessage))
  child.once('error', (error) => once({ problem: error.message }))
  child.once('exit', () => once({ problem: 'its process ended' }))
  try {
    if (child.pid !== undefined) setPriority(child.pid, lowerPriority)
  } catch {
    // It is gone already, which is told above; or the system has no priorities.
  }
  child.unref()
  child.channel?.unref()
  return child
}

/**
 * Shows a training in the browser while `work` goes on, beside it and never in its way: what goes wrong with the dashboard
 * is told and no more. `work` says which run it is as soon as that is known.
 */
export const withDashboard = async <T>(
  { isWanted, say }: TrainDashboard,
  work: (show: (run: RunDirectory) => void) => Promise<T>,
): Promise<T> => {
  let child: ChildProcess | undefined
  let isOver = false
  const show = (run: RunDirectory): void => {
    if (isWanted && child === undefined) child = start(run, (text) => (isOver ? undefined : say(text)))
  }
  try {
    return await work(show)
  } finally {
    isOver = true
    if (child?.connected === true) child.disconnect()
  }
}
