import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../configs/load.ts'
import { randomSamples, writeEvaluation } from './evaluations.ts'

export interface MadeRun {
  readonly id: string
  readonly model?: string
  readonly sets?: readonly string[]
  /** Directory in which `mine.yaml` is written. */
  readonly cwd: string
  readonly evaluated?: boolean
}

const json = (file: string, value: unknown): void => writeFileSync(file, JSON.stringify(value))

/** A finished run as the trainer leaves it, with made-up weights of some hundred kilobytes. Returns the weights' text. */
export const makeRun = async ({
  id,
  cwd,
  model = '/home/someone/models/toy',
  sets = [],
  evaluated = true,
}: MadeRun) => {
  const root = join(cwd, 'runs', id)
  const adapter = join(root, 'adapters', 'v000009')
  const checkpoint = join(root, 'checkpoints', 'step-000009')
  for (const directory of [adapter, checkpoint]) mkdirSync(directory, { recursive: true })
  writeFileSync(join(cwd, 'mine.yaml'), 'model:\n  path: data/tiny-base\n')
  const { config, provenance } = await loadConfig({ name: join(cwd, 'mine.yaml'), sets, cwd: '/somewhere/entirely' })
  json(join(root, 'config.resolved.json'), { values: config, provenance })
  json(join(root, 'meta.json'), {
    ...{ id, createdAt: '2026-01-02T03:04:05.000Z', seed: 0, versions: { 'drift-grpo': '0.1.0', torch: '2.0' } },
    model: {
      ...{ path: model, hash: 'b'.repeat(64), architecture: 'LlamaForCausalLM', parameters: 1 },
      ...{ dtype: 'float32', device: 'cpu' },
    },
    pool: { hash: 'a'.repeat(64), train: 80, heldout: 20, refused: [] },
    ...{ judge: 'reference', rewardMaximum: 5.6 },
  })
  json(join(checkpoint, 'loop.json'), {
    ...{ runId: id, nextStep: 9, policyVersion: 9, policyName: 'p', adapter: 'v000009', totalTokens: 1 },
  })
  const weights = `${id} ${'w'.repeat(300_000)}`
  writeFileSync(join(adapter, 'adapter_model.safetensors'), weights)
  json(join(adapter, 'adapter_config.json'), {
    base_model_name_or_path: model,
    peft_type: 'LORA',
    r: 16,
    revision: null,
  })
  const sha256 = createHash('sha256').update(weights).digest('hex')
  if (evaluated)
    writeEvaluation(join(root, 'eval', 'final'), randomSamples('weak', 0.2), randomSamples('strong', 0.8), {
      adapter: { directory: 'adapters/v000009', sha256 },
    })
  return { root, weights, sha256 }
}
