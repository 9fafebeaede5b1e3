import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import type { Config } from '../../configs/schema.ts'
import { StepMetrics } from '../../data/records/metrics.ts'
import { readJsonl } from '../../data/store/jsonl.ts'
import { resolveModel } from '../../trainer/services.ts'
import { policyDims } from './memory.ts'
import { readModelShape, shapeOf, type ModelShape } from './model-shape.ts'
import type { PlanFacts } from './plan.ts'

const Stored = z.object({ values: z.record(z.string(), z.unknown()) })

/** Sections that decide how long a step takes. */
const timingSections = ['model', 'sampling', 'lora', 'grpo', 'worker', 'rewards', 'judge', 'pool'] as const

const timingKey = (values: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(timingSections.map((section) => values[section]))

/** The values of a stored config, null where the file is damaged: another run's fault is no reason not to train. */
const storedValues = async (file: string): Promise<Readonly<Record<string, unknown>> | null> => {
  try {
    return Stored.parse(JSON.parse(await readFile(file, 'utf8'))).values
  } catch {
    return null
  }
}

const meanStepTime = async (metricsFile: string): Promise<number | null> => {
  const times: number[] = []
  for await (const line of readJsonl(metricsFile)) {
    const time = StepMetrics.safeParse(line).data?.['step_time']
    if (typeof time === 'number') times.push(time)
  }
  // The first step warms up and is not like the others.
  const usual = times.slice(1)
  return usual.length === 0 ? null : usual.reduce((sum, time) => sum + time, 0) / usual.length
}

/** Mean time of a step in the newest run of the same settings, on this machine as far as the directory tells. */
const measuredStepTime = async (runsDir: string, config: Config): Promise<number | null> => {
  if (!existsSync(runsDir)) return null
  for (const id of (await readdir(runsDir)).toSorted().toReversed()) {
    const [stored, metrics] = ['config.resolved.json', 'metrics.jsonl'].map((name) => join(runsDir, id, name))
    if (stored === undefined || metrics === undefined || !existsSync(stored) || !existsSync(metrics)) continue
    const values = await storedValues(stored)
    if (values === null || timingKey(values) !== timingKey(config)) continue
    const time = await meanStepTime(metrics)
    if (time !== null) return time
  }
  return null
}

/** A GPU means bfloat16 weights, two bytes each, unless the config says otherwise. */
const weightBytes = ({ worker }: Config): 2 | 4 => {
  if (worker.kind === 'attach') return 2
  if (worker.dtype !== 'auto') return worker.dtype === 'bfloat16' ? 2 : 4
  const hasGpu = worker.device === 'cuda' || (worker.device === 'auto' && spawnSync('nvidia-smi', ['-L']).status === 0)
  return hasGpu ? 2 : 4
}

/** From the weights where they are here, else from the model's config: a hub model has a plan before it is downloaded. */
const modelShape = async (config: Config, cwd: string): Promise<ModelShape | null> => {
  const model = config.worker.kind === 'spawn' ? resolveModel(config.model.path, cwd) : config.model.path
  const own = existsSync(model) ? await readModelShape(model) : null
  if (own !== null || config.worker.kind === 'attach') return own
  const dims = await policyDims(config, cwd)
  return dims === null ? null : shapeOf(dims)
}

/** Looks up what a plan depends on. Writes nothing and starts nothing. */
export const gatherFacts = async (config: Config, trainPrompts: number | null, cwd: string): Promise<PlanFacts> => {
  return {
    shape: await modelShape(config, cwd),
    trainPrompts,
    weightBytes: weightBytes(config),
    secondsPerStep: await measuredStepTime(resolve(cwd, config.run.dir), config),
  }
}
