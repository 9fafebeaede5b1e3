import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { exitCodes } from '../../data/errors.ts'
import { serveRewards as serve } from '../../rewards/service/server.ts'
import { createDashboard } from '../../trainer/dashboard/app.ts'
import { installedAssets } from '../../trainer/dashboard/assets.ts'
import { accessFor } from '../access.ts'
import { defineCommand } from '../command.ts'
import { serveNearby, usualPort } from '../dashboard-port.ts'
import { untilAborted } from '../interrupts.ts'
import { portOption } from '../options.ts'

const tokenVariable = 'DRIFT_GRPO_DASHBOARD_TOKEN'
const tokenRemedy = `Give --token TOKEN, or set ${tokenVariable}; or leave --host away and use ssh -L.`

export const dashboardCommand = defineCommand({
  name: 'dashboard [dir]',
  summary: 'Look at runs in the browser: rewards by node, live; completions; evaluations; the judge’s audit',
  positionals: { dir: { type: 'string', default: 'runs', describe: 'directory of the runs, or one run' } },
  options: {
    dir: { type: 'string', default: 'runs', hidden: true },
    host: { type: 'string', default: '127.0.0.1', describe: 'address to listen on; other than loopback needs a token' },
    port: {
      ...portOption('port'),
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
    const access = accessFor(host, token ?? env[tokenVariable], tokenRemedy)
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
    await untilAborted(finish)
    // Pages that follow a run keep a request open for as long as they are open.
    server.abort()
    await server.close()
    return exitCodes.ok
  },
})
