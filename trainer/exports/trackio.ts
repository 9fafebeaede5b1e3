import { z } from 'zod'
import type { TrackioTarget } from './config.ts'
import { askApi, postJson, refusal, requireJson, type Api } from './http-api.ts'
import type { RunLabel } from './label.ts'
import type { MetricPoint, Sink } from './sink.ts'

/** The version of trackio's HTTP API that this speaks; the server tells its own. */
const apiVersion = 1
const Version = z.object({ api_version: z.number() })

/** Points of one request. */
const most = 100

/** A server of one's own wants its write token in one header, a Space the hub's token in another. */
const apiOf = ({ url, tokenEnv }: TrackioTarget, env: NodeJS.ProcessEnv): Api => {
  const token = env[tokenEnv]
  if (token === undefined || token === '') return { name: 'trackio', url, headers: {} }
  return { name: 'trackio', url, headers: { 'x-trackio-write-token': token, authorization: `Bearer ${token}` } }
}

interface LogEntry {
  readonly project: string
  readonly run: string
  readonly metrics: Readonly<Record<string, number>>
  readonly step: number
  readonly config: Readonly<Record<string, string>> | null
  /** The server takes an entry with a known id only once. */
  readonly log_id: string
}

const bulkLog = async (api: Api, logs: readonly LogEntry[], signal: AbortSignal): Promise<void> => {
  await postJson(api, '/api/bulk_log', { logs, hf_token: null }, signal)
}

/** A server that answered and lets us write; nothing is written before a run has a name. */
export const connectTrackio = async (
  target: TrackioTarget,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<(label: RunLabel) => Promise<Sink>> => {
  const api = apiOf(target, env)
  const version = Version.safeParse(requireJson(api, await askApi(api, { method: 'GET', path: '/version' }, signal)))
  if (version.data?.api_version !== apiVersion)
    throw refusal(api, `it speaks version ${version.data?.api_version ?? 'unknown'} of the HTTP API, not ${apiVersion}`)
  // An empty list changes nothing, and is refused without the right to write.
  await bulkLog(api, [], signal)
  return async ({ name, attempt, params }) => {
    const run = attempt === 1 ? name : `${name} attempt ${attempt}`
    const entryOf = ({ step, values }: MetricPoint): LogEntry => ({
      ...{ project: target.project, run, metrics: values, step, config: params },
      log_id: `${target.project}/${run}/${step}`,
    })
    return {
      name: 'trackio',
      replays: true,
      write: async (points, cancelled) => {
        for (let i = 0; i < points.length; i += most)
          await bulkLog(api, points.slice(i, i + most).map(entryOf), cancelled)
      },
      close: async () => undefined,
    }
  }
}
