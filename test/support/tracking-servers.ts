import { z } from 'zod'
import { fakeServer, type Answer } from './fake-server.ts'

/** MLflow's REST API as it is documented: fields, limits and errors of the calls that a client of metrics makes. */
const key = z.string().regex(/^[\w\-. /:]{1,250}$/)
const tag = z.strictObject({ key, value: z.string().max(5000) })
const metric = z.strictObject({ key, value: z.number(), timestamp: z.int().min(0), step: z.int() })
const mlflowCalls = {
  'experiments/create': z.strictObject({ name: z.string().min(1) }),
  'runs/create': z.strictObject({
    experiment_id: z.string(),
    run_name: z.string(),
    start_time: z.int(),
    tags: z.array(tag),
  }),
  'runs/log-batch': z
    .strictObject({
      run_id: z.string(),
      metrics: z.array(metric).max(1000),
      params: z.array(z.strictObject({ key, value: z.string().max(6000) })).max(100),
      tags: z.array(tag).max(100),
    })
    .refine(({ metrics, params, tags }) => metrics.length + params.length + tags.length <= 1000),
  'runs/update': z.strictObject({
    run_id: z.string(),
    status: z.enum(['RUNNING', 'SCHEDULED', 'FINISHED', 'FAILED', 'KILLED']),
    end_time: z.int(),
  }),
}

export interface MlflowRun {
  readonly id: string
  readonly name: string
  readonly metrics: z.infer<typeof metric>[]
  readonly params: Record<string, string>
  status: string
}

const refuse = (status: number, error_code: string, message: string): Answer => ({
  status,
  json: { error_code, message },
})

/** A tracking server that keeps what it is told; `fail` answers instead while it returns something. */
export const mlflowServer = async (options: { readonly token?: string; readonly fail?: () => Answer | null } = {}) => {
  const experiments = new Map<string, string>()
  const runs: MlflowRun[] = []
  const handlers: Readonly<Record<string, (body: never) => Answer>> = {
    'experiments/create': ({ name }: z.infer<(typeof mlflowCalls)['experiments/create']>) => {
      experiments.set(name, String(experiments.size + 1))
      return { json: { experiment_id: experiments.get(name) } }
    },
    'runs/create': ({ run_name, experiment_id }: z.infer<(typeof mlflowCalls)['runs/create']>) => {
      if (![...experiments.values()].includes(experiment_id)) return refuse(404, 'RESOURCE_DOES_NOT_EXIST', 'no such')
      const run = { id: `run-${runs.length + 1}`, name: run_name, metrics: [], params: {}, status: 'RUNNING' }
      runs.push(run)
      return {
        json: { run: { info: { run_id: run.id, run_uuid: run.id, experiment_id, status: 'RUNNING' }, data: {} } },
      }
    },
    'runs/log-batch': ({ run_id, metrics, params }: z.infer<(typeof mlflowCalls)['runs/log-batch']>) => {
      const run = runs.find(({ id }) => id === run_id)
      if (run === undefined) return refuse(404, 'RESOURCE_DOES_NOT_EXIST', 'no such run')
      const known = new Set(run.metrics.map((one) => JSON.stringify(one)))
      run.metrics.push(...metrics.filter((one) => !known.has(JSON.stringify(one))))
      for (const { key: name, value } of params) run.params[name] = value
      return { json: {} }
    },
    'runs/update': ({ run_id, status }: z.infer<(typeof mlflowCalls)['runs/update']>) => {
      const run = runs.find(({ id }) => id === run_id)
      if (run !== undefined) run.status = status
      return { json: { run_info: { run_id, status } } }
    },
  }
  const findByName = (text: string): Answer => {
    const name = decodeURIComponent(text)
    const id = experiments.get(name)
    return id === undefined
      ? refuse(404, 'RESOURCE_DOES_NOT_EXIST', `Could not find experiment with name ${name}`)
      : { json: { experiment: { experiment_id: id, name, lifecycle_stage: 'active' } } }
  }
  const post = (call: string, body: unknown): Answer => {
    const schema = (mlflowCalls as Readonly<Record<string, z.ZodType>>)[call]
    if (schema === undefined) return refuse(404, 'ENDPOINT_NOT_FOUND', call)
    const parsed = schema.safeParse(body)
    return parsed.success
      ? handlers[call]!(parsed.data as never)
      : refuse(400, 'INVALID_PARAMETER_VALUE', z.prettifyError(parsed.error))
  }
  const mayEnter = (authorization: string | undefined): boolean =>
    options.token === undefined || authorization === `Bearer ${options.token}`
  const server = await fakeServer(({ route, body, authorization }) => {
    if (!mayEnter(authorization)) return refuse(401, 'UNAUTHENTICATED', 'who are you?')
    const failure = options.fail?.()
    if (failure != null) return failure
    const get = /^GET \/api\/2\.0\/mlflow\/experiments\/get-by-name\?experiment_name=(.+)$/.exec(route)
    return get === null ? post(route.replace('POST /api/2.0/mlflow/', ''), body) : findByName(get[1] ?? '')
  })
  return { ...server, runs }
}

/** trackio's HTTP API, version 1, as its server has it: `bulk_log` with the right to write, entries known by `log_id`. */
const BulkLog = z.strictObject({
  logs: z.array(
    z.strictObject({
      ...{ project: z.string(), run: z.string(), log_id: z.string().optional() },
      metrics: z.record(z.string(), z.number()),
      step: z.int().nullable(),
      config: z.record(z.string(), z.unknown()).nullable(),
    }),
  ),
  hf_token: z.string().nullable(),
})
type LogEntry = z.infer<typeof BulkLog>['logs'][number]

export const trackioServer = async (
  token: string,
  { version = 1, fail }: { readonly version?: number; readonly fail?: () => Answer | null } = {},
) => {
  const entries: LogEntry[] = []
  const server = await fakeServer(({ route, body }, _, headers) => {
    if (route === 'GET /version') return { json: { version: '0.36.0', api_version: version, api_transport: 'http' } }
    if (route !== 'POST /api/bulk_log') return { status: 404, json: { error: `Unknown API: ${route}` } }
    if (headers['x-trackio-write-token'] !== token)
      return { status: 400, json: { error: 'A write_token is required to log metrics or upload to this server.' } }
    const parsed = BulkLog.safeParse(body)
    if (!parsed.success) return { status: 500, json: { error: z.prettifyError(parsed.error) } }
    const failure = parsed.data.logs.length > 0 ? (fail?.() ?? null) : null
    if (failure !== null) return failure
    const known = new Set(entries.map(({ log_id }) => log_id))
    entries.push(...parsed.data.logs.filter(({ log_id }) => log_id === undefined || !known.has(log_id)))
    return { json: { data: null } }
  })
  return { ...server, entries }
}
