import { resolve } from 'node:path'
import { z } from 'zod'
import { exitCodes, PipelineError } from '../../data/errors.ts'
import { readJsonFile } from '../../data/store/json-file.ts'
import { MlflowTarget, TrackioTarget } from '../../trainer/exports/config.ts'
import { exportCsv } from '../../trainer/exports/csv-files.ts'
import { flatParams, type RunLabel } from '../../trainer/exports/label.ts'
import { connectMlflow } from '../../trainer/exports/mlflow.ts'
import { exportParquet } from '../../trainer/exports/parquet-files.ts'
import { readMetrics } from '../../trainer/exports/run-rows.ts'
import { pointOf, type Sink } from '../../trainer/exports/sink.ts'
import { exportTensorboard } from '../../trainer/exports/tensorboard/event-files.ts'
import { connectTrackio } from '../../trainer/exports/trackio.ts'
import type { MetricsRow } from '../../trainer/dashboard/series.ts'
import type { RunDirectory } from '../../trainer/run-directory.ts'
import { defineCommand, type CommandContext } from '../command.ts'
import { findRun } from '../run-config.ts'

type WriteFiles = (run: RunDirectory, rows: readonly MetricsRow[], out: string) => Promise<string[]>
type Connect = (url: string, project: string, context: CommandContext) => Promise<(label: RunLabel) => Promise<Sink>>

/** Formats that are files in a directory. */
const files: Readonly<Record<string, WriteFiles>> = {
  tensorboard: exportTensorboard,
  csv: exportCsv,
  parquet: exportParquet,
}

const never = new AbortController().signal

/** Formats that are a server. */
const servers: Readonly<Record<string, Connect>> = {
  mlflow: (url, experiment, { env }) => connectMlflow(MlflowTarget.parse({ url, experiment }), env, never),
  trackio: (url, project, { env }) => connectTrackio(TrackioTarget.parse({ url, project }), env, never),
}

const formats = [...Object.keys(files), ...Object.keys(servers)]

const requireUrl = (to: string, url: string | undefined): string => {
  if (url !== undefined && URL.canParse(url) && /^https?:/.test(url)) return url
  throw new PipelineError('usage', `--to ${to} needs the address of a server, not ${url ?? 'none'}`, {
    remedy: `As in: drift-grpo export --run RUN --to ${to} --url http://127.0.0.1:5000`,
  })
}

const Stored = z.object({ values: z.unknown() })

const labelOf = async (run: RunDirectory, rows: readonly MetricsRow[]): Promise<RunLabel> => {
  const stored = await readJsonFile(run.resolvedConfig, Stored, {
    boundary: 'checkpoint',
    remedy: 'Restore it from a copy of the run.',
  })
  return {
    name: run.id,
    attempt: 1,
    startedAt: Date.parse(rows[0]?.at ?? ''),
    params: flatParams(stored?.values ?? {}),
  }
}

const send = async (open: (label: RunLabel) => Promise<Sink>, label: RunLabel, rows: readonly MetricsRow[]) => {
  const sink = await open(label)
  await sink.write(rows.map(pointOf), never)
  await sink.close('finished', never)
}

export const exportCommand = defineCommand({
  name: 'export',
  summary: 'Write or send a run’s metrics and completions in the form of another program',
  options: {
    run: { type: 'string', demandOption: true, requiresArg: true, describe: 'id of the run, or its path' },
    to: { choices: formats, demandOption: true, requiresArg: true, describe: 'form, or program' },
    out: { type: 'string', requiresArg: true, describe: 'directory to write to; default: exports/<form> of the run' },
    url: { type: 'string', requiresArg: true, describe: 'address of the server, for mlflow and trackio' },
    project: {
      type: 'string',
      default: 'drift-grpo',
      requiresArg: true,
      describe: 'experiment of mlflow, or project of trackio',
    },
    dir: { type: 'string', default: 'runs', describe: 'directory of the runs' },
    json: { type: 'boolean', default: false, describe: 'print what was done as JSON' },
  },
  examples: [
    ['drift-grpo export --run runs/mine --to tensorboard --out tb', 'then: tensorboard --logdir tb'],
    ['drift-grpo export --run runs/mine --to parquet', 'metrics and completions as two tables'],
    ['drift-grpo export --run runs/mine --to mlflow --url http://127.0.0.1:5000', 'a finished run to a server'],
  ],
  run: async (args, context) => {
    const { cwd, out } = context
    const { to, json } = args
    const run = await findRun(args.run, args.dir, cwd)
    const rows = await readMetrics(run)
    if (rows.length === 0) {
      throw new PipelineError('usage', `run ${run.id} has no complete step yet`, { remedy: 'Let it train first.' })
    }
    const server = servers[to]
    if (server === undefined) {
      const directory = resolve(cwd, args.out ?? run.at('exports', to))
      const written = (await files[to]?.(run, rows, directory)) ?? []
      out.data(json ? JSON.stringify({ to, steps: rows.length, directory, files: written }) : directory)
      out.progress(`${rows.length} steps: ${written.join(', ')}`)
      return exitCodes.ok
    }
    const url = requireUrl(to, args.url)
    await send(await server(url, args.project, context), await labelOf(run, rows), rows)
    out.data(json ? JSON.stringify({ to, steps: rows.length, project: args.project }) : `${rows.length} steps sent`)
    return exitCodes.ok
  },
})
