import { randomBytes } from 'node:crypto'
import process from 'node:process'
import { createDashboard } from '../trainer/dashboard/app.ts'
import { installedAssets } from '../trainer/dashboard/assets.ts'
import { serveNearby } from './dashboard-port.ts'
import type { DashboardMessage } from './train-dashboard.ts'

/** The dashboard of a training: a process of its own that ends with the channel to its parent, however that ends. */
const tell = (message: DashboardMessage): void => void process.send?.(message)

const [directory = ''] = process.argv.slice(2)
process.once('disconnect', () => process.exit())
// The training may have ended while this program was still loaded: then nobody tells any more.
if (!process.connected) process.exit()
try {
  const assets = installedAssets()
  await assets('main.js')
  // Nobody asked for it: other accounts of this machine must not read what it shows. Only the training is told.
  const token = randomBytes(24).toString('base64url')
  const app = createDashboard({
    directory,
    access: { token, loopbackOnly: true },
    assets,
    // There is nobody to tell: the page that asked has the answer.
    onProblem: () => undefined,
  })
  const { port, url } = await serveNearby(app, '127.0.0.1')
  tell({ port, url, token })
} catch (error) {
  tell({ problem: error instanceof Error ? error.message : String(error) })
  process.disconnect()
}
