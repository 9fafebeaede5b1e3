import { stringify } from 'yaml'
import type { Config } from '../../configs/schema.ts'
import type { RunMeta } from '../../data/records/run.ts'
import { analyse } from '../../trainer/evaluation/analyse.ts'
import type { RecordedEvaluation } from '../../trainer/evaluation/load.ts'
import { markdownTable, plain } from '../../trainer/evaluation/report/markdown.ts'
import { byNode, componentTable, taskTable } from '../../trainer/evaluation/report/tables.ts'
import { engineRank } from '../../trainer/memory/plan.ts'
import type { BaseModel } from './base-model.ts'

export interface ModelCardFacts {
  readonly repo: string
  readonly base: BaseModel
  readonly meta: RunMeta
  readonly config: Config
  /** Optimizer steps behind the adapter. */
  readonly step: number
  readonly adapterSha256: string
  readonly evaluation: RecordedEvaluation | null
}

/** Read by the hub: what the adapter belongs to, and how it is found. A base that is not on the hub must not be named. */
const frontMatter = ({ base }: ModelCardFacts): string => {
  const tags = ['grpo', 'lora', 'agents', 'drift-grpo', ...(base.onHub ? [`base_model:adapter:${base.name}`] : [])]
  const known = {
    ...(base.onHub ? { base_model: base.name } : {}),
    library_name: 'peft',
    pipeline_tag: 'text-generation',
  }
  return `---\n${stringify({ ...known, tags })}---`
}

const introduction = ({ base }: ModelCardFacts): string[] => {
  const whole = base.onHub
    ? `\`${base.name}\` at revision \`${base.revision ?? 'main'}\``
    : `\`${base.name}\`, a model that is not on the hub`
  return [
    `A LoRA adapter for ${whole} (weights ${base.hash.slice(0, 16)}…), trained with GRPO by drift-grpo. It goes over the`,
    'steps of a tool-using agent: where the agent left its task, what it wrote, what can be undone, and whether to roll back',
    'or to call a human. One model has five roles; the prompt says which: classify_drift, detect_drift_operations,',
    'search_api, evaluate_risk, aggregate_and_decision. Its completions are `<reasoning>` and `<answer>` with one JSON object.',
  ]
}

const evaluationPart = ({ evaluation, step }: ModelCardFacts): string[] => {
  if (evaluation === null) return ['## Evaluation', '', `These weights (after ${step} steps) were not evaluated.`]
  const { summary, base, trained } = evaluation
  const statistics = analyse(base, trained, { seed: summary.decoding.seed })
  const { decoding } = summary
  const tables = [byNode(statistics, 'reward', 'Reward'), componentTable(statistics), taskTable(statistics)]
  return [
    '## Evaluation',
    '',
    `Base against this adapter on the same ${summary.all.trained.prompts} held-out prompts, ${decoding.samples} samples each at`,
    `temperature ${decoding.temperature}, at most ${decoding.maxTokens} tokens; R is at most ${summary.rewardMaximum.toFixed(2)}`,
    `(profile ${summary.rewards.profile}), judge: ${plain(summary.judge)}. Intervals: paired bootstrap over prompts.`,
    '',
    tables.map(markdownTable).join('\n\n'),
  ]
}

const poolText = ({ pool }: Config, { pool: bound }: RunMeta): string => {
  const counts = `${bound.train} training and ${bound.heldout} held-out prompts`
  if (pool.kind === 'world') return `simulated world, seed ${pool.seed}; ${counts}`
  return pool.kind === 'hub' ? `dataset ${pool.repo}@${pool.revision}; ${counts}` : `a file; ${counts}`
}

const trainingPart = ({ config, meta, step, adapterSha256 }: ModelCardFacts): string[] => {
  const { sampling, grpo, lora, optimizer, rewards, judge } = config
  const modules = typeof lora.targetModules === 'string' ? lora.targetModules : lora.targetModules.join(', ')
  const rows: [string, string][] = [
    [
      'run',
      `${meta.id}, ${meta.createdAt.slice(0, 10)}, after ${step} of ${config.run.steps} steps, seed ${meta.seed}`,
    ],
    ['prompts', `${poolText(config, meta)}; pool ${meta.pool.hash.slice(0, 16)}`],
    [
      'step',
      `${sampling.promptsPerStep} prompts × ${sampling.groupSize} completions, temperature ${sampling.temperature}`,
    ],
    [
      'GRPO',
      `clip ${grpo.clipLow}/${grpo.clipHigh}, KL β ${grpo.beta} (${grpo.kl}), ${grpo.normalization}, scale ${grpo.scale}`,
    ],
    ['LoRA', `rank ${lora.rank}, α ${lora.alpha}, ${modules}`],
    [
      'optimizer',
      `AdamW, learning rate ${optimizer.learningRate}, warm-up ${optimizer.warmupFraction}, ${optimizer.schedule}`,
    ],
    [
      'reward',
      `profile ${rewards.profile}, at most ${meta.rewardMaximum}; judge: ${meta.judge === judge.kind ? judge.kind : meta.judge}`,
    ],
    ['precision', `${meta.model.dtype} on ${meta.model.device}`],
    [
      'versions',
      Object.entries(meta.versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(', '),
    ],
    ['adapter', `sha256 ${adapterSha256}`],
  ]
  return ['## Training', '', markdownTable({ id: 'training', title: 'Conditions', header: ['', ''], rows })]
}

const usagePart = ({ repo, base, config }: ModelCardFacts): string[] => {
  const revision = base.revision === null ? '' : `, revision="${base.revision}"`
  const model = base.onHub ? base.name : `path/to/${base.name}`
  return [
    '## Use',
    '',
    '```python',
    'from peft import PeftModel',
    'from transformers import AutoModelForCausalLM',
    '',
    `base = AutoModelForCausalLM.from_pretrained("${model}"${revision})`,
    `model = PeftModel.from_pretrained(base, "${repo}")`,
    '```',
    '',
    '```sh',
    `vllm serve ${model} --enable-lora --max-lora-rank ${engineRank(config.lora.rank)} --lora-modules drift=${repo}`,
    '```',
  ]
}

/** README.md of an adapter's repository. */
export const modelCard = (facts: ModelCardFacts): string => {
  const files = facts.evaluation === null ? '' : ' `evaluation.json`: the numbers of the evaluation.'
  const parts = [
    [frontMatter(facts)],
    [`# ${plain(facts.repo.split('/')[1] ?? facts.repo)}`],
    introduction(facts),
    evaluationPart(facts),
    trainingPart(facts),
    [`\`config.resolved.json\`: every setting of the run, and where it came from.${files}`],
    usagePart(facts),
    [
      '## Limits',
      '',
      'It knows prompts of the form that it was trained on. The licence of the base model applies to what is made from it.',
    ],
  ]
  return `${parts.map((part) => part.join('\n')).join('\n\n')}\n`
}
