import type { Hono } from 'hono'
import { PipelineError } from '../data/errors.ts'
import { serveRewards as serve, type RewardServer } from '../rewards/service/server.ts'

/** Where the dashboard is unless told otherwise. */
export const usualPort = 7333

const isTaken = (error: unknown): boolean =>
  error instanceof PipelineError && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE'

/** Serves on the usual port, or on a free one where something else, such as another dashboard, has it. */
export const serveNearby = async (app: Hono, host: string, port = usualPort): Promise<RewardServer> => {
  try {
    return await serve(app, { host, port })
  } catch (error) {
    if (!isTaken(error)) throw error
    return serve(app, { host, port: 0 })
  }
}
