import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { packageRoot } from '../../data/package-root.ts'
import { nodeIds, type NodeId } from '../../data/records/node.ts'
import type { Prompt, PromptFacts } from '../../data/records/prompt.ts'
import type { Judge } from '../../judge/judge.ts'
import { RewardsConfig } from '../../rewards/config.ts'
import { TrainerConfig } from '../../trainer/config.ts'
import type { TrainingOptions } from '../../trainer/train.ts'
import { mayLack } from './require.ts'
import { temporaryDirectory } from './temporary.ts'

export { temporaryDirectory }

/** The interpreter that set-up made; tests that need the real worker cannot run without it. */
export const python = join(packageRoot(), '.venv/bin/python')
export const noPython = mayLack([python])

/** Makes the tiny random model; returns its directory. */
export const makeTinyModel = (): string => {
  const directory = join(temporaryDirectory(), 'model')
  execFileSync(python, [join(packageRoot(), 'test/support/make-tiny-model.py'), directory], { stdio: 'pipe' })
  return directory
}

const facts: { readonly [N in NodeId]: PromptFacts } = {
  n1: { node: 'n1', task: 't', step: 1, operations: [], failed: [] },
  n2: { node: 'n2', task: 't', step: 1, operations: [], failed: [], isAligned: 'Y' },
  n3: { node: 'n3', writes: [] },
  n4: { node: 'n4', writes: [], inverses: {} },
  n5: { node: 'n5', task: 't', rows: [{ step: 1, isAligned: 'Y', writes: [] }] },
}

/** A short prompt without a target. */
export const shortPrompt = (number: number, split: Prompt['split'] = 'train', text = `say ${number}`): Prompt => {
  const node = nodeIds[number % nodeIds.length] ?? 'n1'
  return {
    id: createHash('sha256').update(`${split} ${text}`).digest('hex').slice(0, 16),
    node,
    templateVersion: 'test',
    messages: [
      { role: 'system', content: 'role' },
      { role: 'user', content: text },
    ],
    facts: facts[node],
    target: null,
    split,
    origin: {
      source: 'test',
      taskId: `${split}-${number}`,
      payloadId: null,
      trajectoryIds: ['t'],
      case: 'clean',
      step: null,
      afterExposure: false,
      upstreamMistake: false,
    },
  }
}

export const shortPool = (train: number, heldout: number): Prompt[] => [
  ...Array.from({ length: train }, (_, i) => shortPrompt(i)),
  ...Array.from({ length: heldout }, (_, i) => shortPrompt(i, 'heldout')),
]

/** Likes lower-case letters: a graded wish that even random text meets now and then. */
export const letterJudge: Judge = {
  name: 'letters',
  judge: async ({ completion }) => {
    const letters = completion.match(/[a-z]/g)?.length ?? 0
    return {
      score: Math.min(1, letters / 10),
      reason: 'share of letters',
      model: 'letters',
      cached: false,
      latencyMs: 0,
    }
  },
}

type Changes = { readonly [S in keyof TrainerConfig]?: Partial<TrainerConfig[S]> }

/** A config of a few short steps. */
export const tinyConfig = (model: string, runs: string, changes: Changes = {}): TrainingOptions['config'] => {
  const sections: Record<string, object> = {
    run: { dir: runs, steps: 4, checkpointEvery: 2 },
    model: { path: model, maxPromptTokens: 100, maxCompletionTokens: 12 },
    sampling: { groupSize: 4, promptsPerStep: 3 },
    lora: { rank: 4, alpha: 8 },
    optimizer: { learningRate: 0.02 },
    evaluation: { prompts: 4, samples: 2 },
  }
  for (const [name, values] of Object.entries(changes)) sections[name] = { ...sections[name], ...values }
  return { ...TrainerConfig.parse(sections), rewards: RewardsConfig.parse({}) }
}

/** Collects what would be shown. */
export const captured = (isTTY = false) => {
  const chunks: string[] = []
  return { isTTY, columns: 200, write: (text: string) => chunks.push(text), text: () => chunks.join('') }
}

export const source = { name: 'tiny.yaml', text: '# tiny\n', values: {}, provenance: {} }
