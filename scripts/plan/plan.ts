import type { Config } from '../../configs/schema.ts'
import { learningPressure } from '../../trainer/config.ts'
import type { ModelShape } from './model-shape.ts'

/** What a training will do and need, worked out beforehand. Sizes are upper bounds; null is what nobody can know. */
export interface Plan {
  readonly steps: number
  readonly promptsPerStep: number
  readonly completionsPerStep: number
  readonly completions: number
  /** How often each training prompt is used; null when the pool's size is not known. */
  readonly epochs: number | null
  readonly tokens: {
    readonly promptsPerStep: number
    readonly completionsPerStep: number
    readonly total: number
  }
  readonly model: { readonly parameters: number; readonly loraParameters: number } | null
  /** Bytes by purpose. Activations come on top: worker.tokenBudget bounds them. */
  readonly memory: PlannedMemory | null
  /** Bytes in the run directory. */
  readonly disk: { readonly adapters: number; readonly checkpoints: number; readonly records: number } | null
  /** Seconds, from an earlier run of the same settings; null without one. */
  readonly seconds: number | null
  readonly warnings: readonly string[]
}

/** Bytes that worker and embedded sampler hold all the time. `copies`: weights once more, in the order in which products read them. */
export interface PlannedMemory {
  readonly weights: number
  readonly copies: number
  readonly adapter: number
  readonly cache: number
}

export interface PlanFacts {
  readonly shape: ModelShape | null
  readonly trainPrompts: number | null
  /** Bytes of one weight where the worker will run. */
  readonly weightBytes: 2 | 4
  readonly secondsPerStep: number | null
}

const bytesOfFloat = 4
/** A trained number is held with its gradient and the optimizer's two moments. */
const copiesInTraining = 4
/** A checkpoint holds the number and the two moments. */
const copiesInCheckpoint = 3
/** Adapters that exist beside those of checkpoints: the newest ones, until nobody can ask for them. */
const versionsAtHand = 3
/** Rollouts and updates of a whole run of tiny.yaml: 24.5 MB for 306 thousand completion tokens. */
const recordBytesPerToken = 80
/** Below this size a model needs a larger step than the usual range of lr·alpha. */
const smallModel = 50_000_000
/** As in the worker's packed.py and sampler/weights.py: up to here there are copies, and the learner has two above the other. */
export const copied = { most: 250_000_000, byLearnerAbove: 50_000_000 }

/** Numbers in an adapter: two matrices of the rank for every linear layer that is targeted. */
export const loraParameters = ({ rank, targetModules }: Config['lora'], shape: ModelShape): number =>
  shape.linear
    .filter(({ name }) => targetModules === 'all-linear' || targetModules.some((target) => name.endsWith(`.${target}`)))
    .reduce((sum, { inputs, outputs }) => sum + rank * (inputs + outputs), 0)

const warningsFor = (config: Config, shape: ModelShape | null): string[] => {
  const { value, low, high } = learningPressure(config)
  if ((value >= low && value <= high) || (shape !== null && shape.parameters < smallModel)) return []
  const [side, effect] = value < low ? ['below', 'nothing may move'] : ['above', 'training may collapse']
  return [
    `optimizer.learningRate × lora.alpha is ${value.toPrecision(2)}, ${side} the range in which models of usual size train ` +
      `(${low} to ${high}): ${effect}`,
  ]
}

/** How many times the weights are there again: the learner's two, and one of each version that the sampler has loaded. */
const copiesOf = ({ sampling }: Config, parameters: number, weightBytes: number): number => {
  if (weightBytes !== bytesOfFloat || parameters > copied.most) return 0
  const isPacked = parameters > copied.byLearnerAbove
  const sampled = sampling.server.kind === 'embedded' ? versionsAtHand + (isPacked ? 0 : 1) : 0
  return sampled + (isPacked ? 2 : 0)
}

const memoryOf = (config: Config, shape: ModelShape, adapter: number, weightBytes: number): PlannedMemory => {
  const { model, sampling } = config
  const groups = Math.min(sampling.concurrency, sampling.promptsPerStep)
  const cachedTokens = groups * (model.maxPromptTokens + sampling.groupSize * model.maxCompletionTokens)
  return {
    weights: shape.parameters * weightBytes,
    copies: shape.parameters * weightBytes * copiesOf(config, shape.parameters, weightBytes),
    adapter: adapter * bytesOfFloat * copiesInTraining,
    cache: cachedTokens * shape.cacheWidth * weightBytes,
  }
}

/** Steps whose rollouts and updates exist at once. */
const recordedSteps = ({ steps, keepSteps, checkpointEvery }: Config['run']): number =>
  keepSteps === null ? steps : Math.min(steps, keepSteps + checkpointEvery)

/** Works out what a config asks for. Pure: everything that must be looked up is in the facts. */
export const makePlan = (config: Config, facts: PlanFacts): Plan => {
  const { run, model, sampling } = config
  const { shape } = facts
  const completionsPerStep = sampling.promptsPerStep * sampling.groupSize
  const tokens = {
    promptsPerStep: sampling.promptsPerStep * model.maxPromptTokens,
    completionsPerStep: completionsPerStep * model.maxCompletionTokens,
  }
  const adapter = shape === null ? null : loraParameters(config.lora, shape)
  const total = run.steps * (tokens.promptsPerStep + tokens.completionsPerStep)
  return {
    steps: run.steps,
    promptsPerStep: sampling.promptsPerStep,
    completionsPerStep,
    completions: run.steps * completionsPerStep,
    epochs: facts.trainPrompts === null ? null : (run.steps * sampling.promptsPerStep) / facts.trainPrompts,
    tokens: { ...tokens, total },
    model: shape === null || adapter === null ? null : { parameters: shape.parameters, loraParameters: adapter },
    memory: shape === null || adapter === null ? null : memoryOf(config, shape, adapter, facts.weightBytes),
    disk:
      adapter === null
        ? null
        : {
            adapters:
              (Math.min(Math.ceil(run.steps / run.checkpointEvery), run.keepCheckpoints) + versionsAtHand) *
              adapter *
              bytesOfFloat,
            checkpoints: run.keepCheckpoints * adapter * bytesOfFloat * copiesInCheckpoint,
            records: recordedSteps(run) * tokens.completionsPerStep * recordBytesPerToken,
          },
    seconds: facts.secondsPerStep === null ? null : facts.secondsPerStep * run.steps,
    warnings: warningsFor(config, shape),
  }
}
