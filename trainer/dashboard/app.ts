import { Hono } from 'hono'
import { compress } from 'hono/compress'
import { PipelineError } from '../../data/errors.ts'
import type { Assets } from './assets.ts'
import { guard, type DashboardAccess } from './guard.ts'
import { runRoutes } from './routes-run.ts'
import { rolloutRoutes } from './routes-rollouts.ts'
import { evaluationRoutes } from './routes-evaluation.ts'
import { eventRoutes } from './routes-events.ts'
import { labelRoutes } from './routes-labels.ts'
import { Runs } from './runs.ts'
import type { Problem } from './view.ts'

export interface DashboardOptions {
  readonly directory: string
  readonly access: DashboardAccess
  readonly assets: Assets
  readonly onProblem: (error: unknown) => void
}

/** One page for all addresses: the script draws what the address names. */
const shell = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>drift-grpo</title>
<link rel="icon" href="/assets/icon.svg">
<link rel="stylesheet" href="/assets/style.css">
<script type="module" src="/assets/main.js"></script>
</head>
<body>
<a class="skip" href="#page">Skip to the page</a>
<div id="app"></div>
<noscript>This dashboard draws its pages with JavaScript.</noscript>
</body>
</html>
`

const problem = (error: string, remedy: string | null = null): Problem => ({ error, remedy })

/** The dashboard over a directory of runs. It reads files; all that a page can write is the marks of reviewers. It never meets the loop. */
export const createDashboard = ({ directory, access, assets, onProblem }: DashboardOptions): Hono => {
  const app = new Hono()
  const runs = new Runs(directory)
  app.use(guard(access))
  // Events are sent as they come; compression would hold them back.
  const compressed = compress()
  app.use((c, next) => (c.req.path.endsWith('/live') ? next() : compressed(c, next)))
  app.use('/api/*', async (c, next) => {
    c.header('Cache-Control', 'no-store')
    await next()
  })
  app.get('/api/runs', async (c) => c.json({ directory: runs.directory, runs: await runs.cards() }))
  app.get('/api/run-names', async (c) => c.json({ runs: await runs.ids() }))
  app.route('/api/runs', runRoutes(runs))
  app.route('/api/runs', rolloutRoutes(runs))
  app.route('/api/runs', evaluationRoutes(runs))
  app.route('/api/runs', eventRoutes(runs))
  app.route('/api/runs', labelRoutes(runs))
  app.all('/api/*', (c) => c.json(problem('there is no such address'), 404))
  app.get('/assets/:name', async (c) => {
    const asset = await assets(c.req.param('name'))
    if (asset === null) return c.text('no such file\n', 404)
    c.header('Cache-Control', 'no-cache')
    return c.body(asset.body, 200, { 'Content-Type': asset.type })
  })
  app.get('*', (c) => c.html(shell))
  app.onError((error, c) => {
    onProblem(error)
    if (error instanceof PipelineError) return c.json(problem(error.message, error.remedy ?? null), 422)
    return c.json(problem('the dashboard failed to read this; its terminal says more'), 500)
  })
  return app
}
