import { z } from 'zod'
import type { MlflowTarget } from './config.ts'
import { askApi, postJson, requireJson, requireShape, type Api } from './http-api.ts'
import type { MetricPoint, Sink, SinkEnding } from './sink.ts'
import type { RunLabel } from './label.ts'

/** What the server takes in one request (MLflow REST API, "Log Batch"). */
const mostMetrics = 1000
const mostParams = 100
const longestParam = 500

const root = '/api/2.0/mlflow'
const Experiment = z.object({ experiment: z.object({ experiment_id: z.string() }) })
const CreatedExperiment = z.object({ experiment_id: z.string() })
const CreatedRun = z.object({ run: z.object({ info: z.object({ run_id: z.string() }) }) })

const apiOf = ({ url, tokenEnv }: MlflowTarget, env: NodeJS.ProcessEnv): Api => {
  const token = env[tokenEnv]
  const headers: Record<string, string> =
    token === undefined || token === '' ? {} : { authorization: `Bearer ${token}` }
  return { name: 'mlflow', url, headers }
}

/** Id of the experiment, made where it is missing. Throws where the server is not there or refuses. */
const findExperiment = async (api: Api, name: string, signal: AbortSignal): Promise<string> => {
  const path = `${root}/experiments/get-by-name?experiment_name=${encodeURIComponent(name)}`
  const reply = await askApi(api, { method: 'GET', path }, signal)
  if (reply.status !== 404) return requireShape(api, Experiment, requireJson(api, reply)).experiment.experiment_id
  const created = await postJson(api, `${root}/experiments/create`, { name }, signal)
  return requireShape(api, CreatedExperiment, created).experiment_id
}

interface Metric {
  readonly key: string
  readonly value: number
  readonly timestamp: number
  readonly step: number
}

const metricsOf = ({ step, at, values }: MetricPoint): Metric[] =>
  Object.entries(values).map(([key, value]) => ({ key, value, timestamp: at, step }))

const chunks = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size))

const statusOf: Readonly<Record<SinkEnding, string>> = { finished: 'FINISHED', failed: 'FAILED', stopped: 'KILLED' }

/** A server that answered; a run there is made when the run here has a name. */
export const connectMlflow = async (
  target: MlflowTarget,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<(label: RunLabel) => Promise<Sink>> => {
  const api = apiOf(target, env)
  const experiment = await findExperiment(api, target.experiment, signal)
  return async ({ name, attempt, startedAt, params }) => {
    const tags = [
      { key: 'drift_grpo.run', value: name },
      { key: 'drift_grpo.attempt', value: String(attempt) },
    ]
    const run_name = attempt === 1 ? name : `${name} attempt ${attempt}`
    const create = { experiment_id: experiment, run_name, start_time: startedAt, tags }
    const created = requireShape(api, CreatedRun, await postJson(api, `${root}/runs/create`, create, signal))
    const { run_id } = created.run.info
    const entries = Object.entries(params).map(([key, value]) => ({ key, value: value.slice(0, longestParam) }))
    for (const some of chunks(entries, mostParams)) {
      await postJson(api, `${root}/runs/log-batch`, { run_id, metrics: [], params: some, tags: [] }, signal)
    }
    return {
      name: 'mlflow',
      replays: true,
      // The server knows a metric by key, step, time and value: one that comes twice is one.
      write: async (points, cancelled) => {
        for (const metrics of chunks(points.flatMap(metricsOf), mostMetrics)) {
          await postJson(api, `${root}/runs/log-batch`, { run_id, metrics, params: [], tags: [] }, cancelled)
        }
      },
      close: async (ending, cancelled) => {
        const update = { run_id, status: statusOf[ending], end_time: Date.now() }
        await postJson(api, `${root}/runs/update`, update, cancelled)
      },
    }
  }
}
