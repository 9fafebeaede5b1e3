import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { EvaluationSample, EvaluationSummary } from '../../data/records/run.ts'
import { PipelineError } from '../../data/errors.ts'
import type { RewardsConfig } from '../../rewards/config.ts'
import type { BoundPrompt } from '../bind-pool.ts'
import type { LoopState } from '../checkpoint.ts'
import type { LoopContext } from '../loop.ts'
import type { RunDirectory } from '../run-directory.ts'
import { findBest, forgetLaterEvaluations, stepEvaluation, writeBest, type Best } from './best.ts'
import { evaluate, type Evaluation } from './evaluate.ts'
import { chooseHeldout } from './heldout.ts'

export interface RunEvaluatorOptions {
  readonly context: LoopContext
  readonly run: RunDirectory
  readonly heldout: readonly BoundPrompt[]
  readonly rewards: RewardsConfig
  readonly judgeName: string
  /** Gives an evaluation up. */
  readonly signal: AbortSignal
  readonly onStatus: (text: string) => void
}

/** All evaluations during training sample alike: those of the base then are the same, and are made once. */
const duringTraining = 'during-training'

interface Wish {
  readonly name: string
  readonly stage?: string
  readonly prompts: number
  readonly samples: number
  readonly base?: readonly EvaluationSample[] | undefined
}

const three = (value: number | null): string => value?.toFixed(3) ?? '-'

/** The evaluations of one attempt of a run: every so many steps on few prompts, and the large one at the end. */
export class RunEvaluator {
  readonly #options: RunEvaluatorOptions
  #base: readonly EvaluationSample[] | undefined
  #best: Best | null = null

  constructor(options: RunEvaluatorOptions) {
    this.#options = options
  }

  /** The step whose checkpoint must be kept; null before there is a best one. */
  get bestStep(): number | null {
    return this.#best?.step ?? null
  }

  /** Takes up what earlier attempts found, and refuses a choice that these prompts cannot make. */
  async open(nextStep: number): Promise<void> {
    const { run, heldout } = this.#options
    const { every, bestBy, everyPrompts } = this.#section
    if (every === null) return
    const chosen = chooseHeldout(heldout, everyPrompts)
    if (chosen.length === 0 || (bestBy === 'exactly_right' && chosen.every(({ prompt }) => prompt.target === null))) {
      const what = chosen.length === 0 ? 'there are no held-out prompts' : 'no held-out prompt has a target'
      throw new PipelineError('pool', `evaluation.every cannot tell a best checkpoint by ${bestBy}: ${what}`, {
        remedy: 'Give a pool that has them, set evaluation.bestBy to judge or reward, or evaluation.every to null.',
      })
    }
    await forgetLaterEvaluations(run, nextStep, bestBy)
    this.#best = await findBest(run, bestBy)
  }

  /**
   * Evaluates when this step is one of every so many, or the last. True when it is the best so far: its checkpoint is worth
   * keeping. An evaluation that a wish to stop gave up is not made later.
   */
  async afterStep(state: LoopState): Promise<boolean> {
    const { run, signal } = this.#options
    const { every, everyPrompts, everySamples, bestBy } = this.#section
    const last = state.nextStep === this.#options.context.config.run.steps
    if (every === null || (state.nextStep % every !== 0 && !last)) return false
    const name = stepEvaluation(state.nextStep)
    if (existsSync(join(run.evaluation(name), 'summary.json'))) return false
    try {
      const sizes = { prompts: everyPrompts, samples: everySamples }
      const { base } = await this.#evaluate({ name, stage: duringTraining, ...sizes, base: this.#base }, state)
      this.#base = base
    } catch (error) {
      if (signal.aborted && error === signal.reason) return false
      throw error
    }
    this.#best = await findBest(run, bestBy)
    if (this.#best !== null) await writeBest(run, this.#best)
    return this.#best?.step === state.nextStep
  }

  /** The comparison on all prompts that the config asks for, as `final`. */
  async atEnd(state: LoopState): Promise<EvaluationSummary> {
    const { prompts, samples } = this.#section
    return (await this.#evaluate({ name: 'final', prompts, samples }, state)).summary
  }

  get #section() {
    return this.#options.context.config.evaluation
  }

  async #evaluate(wish: Wish, state: LoopState): Promise<Evaluation> {
    const { context, run, heldout, rewards, judgeName, signal, onStatus } = this.#options
    const { config, recorder } = context
    const { name, stage, samples, base } = wish
    recorder.activity.enter('evaluating')
    await recorder.status('evaluating', state)
    const evaluation = await evaluate({
      ...{ name, stage, run, rewards, judgeName, samples, base, signal },
      sampler: context.sampler,
      scorer: context.scorer,
      trained: { version: state.policyVersion, name: state.policyName },
      step: state.nextStep,
      adapter: state.adapter,
      prompts: chooseHeldout(heldout, wish.prompts),
      maxTokens: config.model.maxCompletionTokens,
      temperature: config.sampling.temperature,
      seed: config.run.seed,
      concurrency: config.sampling.concurrency,
      onProgress: (done, total) => {
        recorder.activity.progressed()
        onStatus(`evaluation ${name}: ${done}/${total}`)
      },
    })
    const { all } = evaluation.summary
    const text = `R ${three(all.base.reward)} → ${three(all.trained.reward)}, exactly right ${three(all.base.exactlyRight)} → ${three(all.trained.exactlyRight)}`
    await recorder.event('evaluation', `${name}: ${text}`, state.nextStep)
    return evaluation
  }
}
