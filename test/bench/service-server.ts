import process from 'node:process'
import { openPool } from '../../data/pool/open.ts'
import { RewardsConfig } from '../../rewards/config.ts'
import { createRewardApp } from '../../rewards/service/app.ts'
import { serveRewards } from '../../rewards/service/server.ts'
import { benchPool } from './service-load.ts'

/** The service alone in a process, so that its processor time can be told from its client's. Prints its address. */
const { train } = await openPool(benchPool, 0)
const prompts = new Map(train.map((prompt) => [prompt.id, prompt]))
const app = createRewardApp({
  rewards: RewardsConfig.parse({ profile: 'hardened' }),
  judge: null,
  findPrompt: (id) => prompts.get(id),
})
const server = await serveRewards(app, { host: '127.0.0.1', port: 0 })
process.send?.({ url: server.url, train })
process.once('disconnect', () => server.abort())
process.once('disconnect', () => void server.close())
