import process from 'node:process'
import { serveRewards as serve } from '../../rewards/service/server.ts'
import { createDashboard } from '../../trainer/dashboard/app.ts'
import { installedAssets } from '../../trainer/dashboard/assets.ts'

/** The dashboard alone in a process, so that its memory can be told from its client's. Sends its address. */
const app = createDashboard({
  directory: process.argv[2] ?? '',
  access: { token: null, loopbackOnly: true },
  assets: installedAssets(),
  onProblem: (error) => console.error(error),
})
const server = await serve(app, { host: '127.0.0.1', port: 0 })
process.send?.(server.url)
process.once('disconnect', () => {
  server.abort()
  void server.close()
})
