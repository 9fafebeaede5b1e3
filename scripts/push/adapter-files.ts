import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { PipelineError } from '../../data/errors.ts'
import type { HubFile } from '../../data/hub/content.ts'
import type { RunMeta } from '../../data/records/run.ts'
import { chooseCheckpoint, type CheckpointChoice } from '../../trainer/evaluation/choose-checkpoint.ts'
import { adapterWeights } from '../../trainer/evaluation/identity.ts'
import type { RunDirectory } from '../../trainer/run-directory.ts'
import { loadRunConfig } from '../run-config.ts'
import { baseModelOf, type BaseModel } from './base-model.ts'
import { evaluationOf } from './evaluation-of.ts'
import { modelCard } from './model-card.ts'
import { scrub } from './scrub.ts'

/** What is to be sent, before it is known where to. */
export interface Publication {
  readonly files: readonly HubFile[]
  readonly card: string
  readonly title: string
  /** What people should know before it is out. */
  readonly warnings: readonly string[]
}

const text = (path: string, value: unknown): HubFile => ({ path, text: `${JSON.stringify(value, null, 2)}\n` })

const readObject = async (file: string): Promise<Record<string, unknown>> => {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(await readFile(file, 'utf8')))
  } catch (error) {
    throw new PipelineError('checkpoint', `${file} cannot be read: ${(error as Error).message.split('\n', 1)[0]}`, {
      remedy: 'The run was copied in part, or the file was changed: restore it.',
      cause: error,
    })
  }
}

/** PEFT's own record of an adapter, with the base as others can find it. */
const adapterConfig = async (directory: string, base: BaseModel): Promise<HubFile> => {
  const own = await readObject(join(directory, 'adapter_config.json'))
  return text('adapter_config.json', { ...own, base_model_name_or_path: base.name, revision: base.revision })
}

const requireMeta = async (run: RunDirectory): Promise<RunMeta> => {
  const meta = await run.readMeta()
  if (meta !== null) return meta
  throw new PipelineError('checkpoint', `run ${run.id} has no meta.json: it never came to load its model`)
}

/** Everything of a run that goes out with an adapter of it. Nothing in it names a place on this machine. */
export const adapterPublication = async (
  run: RunDirectory,
  choice: CheckpointChoice,
  repo: string,
): Promise<Publication> => {
  const { config, provenance } = await loadRunConfig(run, [])
  const meta = await requireMeta(run)
  const { state, adapter } = await chooseCheckpoint(run, choice)
  if (adapter === null) {
    throw new PipelineError('usage', `the checkpoint after ${state.nextStep} steps of ${run.id} is the base itself`, {
      remedy: 'Let the run train on, or name another checkpoint: --checkpoint STEP.',
    })
  }
  const base = baseModelOf(meta.model, config.model.revision)
  const evaluation = await evaluationOf(run, adapter.sha256)
  const step = state.nextStep
  const card = modelCard({ repo, base, meta, config, step, adapterSha256: adapter.sha256, evaluation })
  return {
    files: [
      { path: 'README.md', text: card },
      await adapterConfig(adapter.location, base),
      { path: adapterWeights, file: join(adapter.location, adapterWeights) },
      text('config.resolved.json', scrub({ values: config, provenance })),
      ...(evaluation === null ? [] : [text('evaluation.json', scrub(evaluation.summary))]),
    ],
    card,
    title: `Adapter of ${run.id} after ${step} steps`,
    warnings: [
      ...(evaluation === null
        ? [
            `these weights were not evaluated: drift-grpo eval --run ${run.id} --checkpoint ${step} would say what they are worth`,
          ]
        : []),
      ...(base.onHub ? [] : [`the base ${base.name} is not on the hub: others cannot load the adapter without it`]),
    ],
  }
}
