import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { exitCodes, PipelineError } from '../../data/errors.ts'
import { isLoopback } from '../../rewards/service/access.ts'
import { serveRewards as serve } from '../../rewards/service/server.ts'
import { createDashboard } from '../../trainer/dashboard/app.ts'
import { installedAssets } from '../../trainer/dashboard/assets.ts'
import type { DashboardAccess } from '../../trainer/dashboard/guard.ts'
import { defineCommand } from '../command.ts'
import { serveNearby, usualPort } from '../dashboard-port.ts'
import { wholeNumber } from '../number-options.ts'

const tokenVariable = 'DRIFT_GRPO_DASHBOARD_TOKEN'
const highestPort = 65_535

const usage = (message: string, remedy: string): PipelineError => new PipelineError('usage', message, { remedy })

/** Whoever reaches it can read prompts, completions and configs: elsewhere than on loopback only with a token. */
export const accessFor = (host: string, token: string | undefined): DashboardAccess => {
  const loopbackOnly = isLoopback(host)
  const remedy = `Give --token TOKEN, or set ${tokenVariable}; or leave --host away and use ssh -L.`
  if (token === '') throw usage('the token is empty', remedy)
  if (!loopbackOnly && token === undefined)
    throw usage(`--host ${host} is reached from other machines, and there is no token`, remedy)
  return { token: token ?? null, loopbackOnly }
}

export const dashboardCommand = defineCommand({
  name: 'dashboard [dir]',
  summary: 'Look at runs in the browser: rewards by node, live; completions; evaluations; the judge’s audit',
  positionals: { dir: { type: 'string', default: 'runs', describe: 'directory of the runs, or one run' } },
  options: {
    dir: { type: 'string', default: 'runs', hidden: true },
    host: { type: 'string', default: '127.0.0.1', describe: 'address to listen on; other than loopback needs a token' },
    port: {
      ...wholeNumber('port', 0),
      describe: `port to listen on, 0 for a free one; default: ${usualPort}, or a free one where that is taken`,
    },
    token: { type: 'string', describe: `token that browsers must show; default: ${tokenVariable}, else none` },
  },
  examples: [
    ['drift-grpo dashboard', 'all runs below runs/, on http://127.0.0.1:7333'],
    ['drift-grpo dashboard runs/mine --port 0', 'one run, on any free port'],
    ['drift-grpo dashboard --host 0.0.0.0 --token SECRET', 'for browsers on other machines'],
  ],
  run: async ({ dir, host, port, token }, { cwd, env, out, interrupts }) => {
    if (port !== undefined && port > highestPort)
      throw usage(`--port: ${port} is not a port`, `Ports end at ${highestPort}.`)
    const access = accessFor(host, token ?? env[tokenVariable])
    const directory = resolve(cwd, dir)
    const assets = installedAssets()
    // Fails now, with what to do, instead of with a blank page.
    await assets('main.js')
    const { finish } = interrupts('closing the dashboard')
    const app = createDashboard({
      directory,
      access,
      assets,
      onProblem: (error) => out.progress(error instanceof Error ? error.message : String(error)),
    })
    const server = await (port === undefined ? serveNearby(app, host) : serve(app, { host, port }))
    if (port === undefined && server.port !== usualPort) out.progress(`port ${usualPort} is in use`)
    out.progress(`looking at ${directory}; Ctrl-C ends it`)
    if (access.loopbackOnly)
      out.progress(`from another machine: ssh -L ${server.port}:127.0.0.1:${server.port} ${hostname()}`)
    out.data(server.url)
    await new Promise<void>((stop) => {
      if (finish.aborted) stop()
      else finish.addEventListener('abort', () => stop(), { once: true })
    })
    // Pages that follow a run keep a request open for as long as they are open.
    server.abort()
    await server.close()
    return exitCodes.ok
  },
})
