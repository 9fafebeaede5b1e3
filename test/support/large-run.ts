import { mkdir, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { nodeIds } from '../../data/records/node.ts'
import type { RunMeta } from '../../data/records/run.ts'
import { seeded } from '../rewards/adversarial.ts'
import { metricsLine, statusOf } from './dashboard.ts'

const maxima: Readonly<Record<string, number>> = {
  xml_count: 0.5,
  strict_format: 0.5,
  soft_format: 0.25,
  reasoning_length: 0.5,
  total_length: 0.25,
  json_valid: 1,
  json_schema: 1,
  json_sanity: 0.6,
  judge: 1,
}

export interface LargeRun {
  readonly steps: number
  readonly groupsPerStep: number
  readonly samples: number
  readonly tokens: number
  readonly promptTokens: number
}

/** 100,000 completions of about 100 tokens after prompts of about 400. */
export const hundredThousand: LargeRun = { steps: 1000, groupsPerStep: 25, samples: 4, tokens: 100, promptTokens: 400 }

const words =
  'the step writes calendar rename splits join mail sent task drift aligned operation rollback escalate human report'.split(
    ' ',
  )

type Random = () => number

const numbersText = (random: Random, count: number, one: () => string): string =>
  Array.from({ length: count }, one).join(',')

/** Texts of arrays are drawn from a few that are made beforehand: a hundred million numbers need not be made one by one. */
const makeParts = (random: Random, { tokens, promptTokens }: LargeRun) => {
  const token = (): string => String(Math.floor(random() * 30_000))
  const logprob = (): string => String(-(random() ** 4) * 3)
  const several = (length: number, one: () => string): string[] =>
    Array.from({ length: 40 }, () => numbersText(random, Math.round(length * (0.5 + random())), one))
  const [ids, prompts] = [several(tokens, token), several(promptTokens, token)]
  return { ids, prompts, logprobs: ids.map((text) => numbersText(random, text.split(',').length, logprob)) }
}

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T

const completionText = (random: Random, skill: number, number: number): string => {
  const reasoning = Array.from({ length: 30 + Math.floor(random() * 40) }, () => pick(random, words)).join(' ')
  const answer = `{"step": ${number % 20}, "is_aligned": "${random() < 0.5 ? 'Y' : 'N'}", "why": "${pick(random, words)} ${number}"}`
  return random() < skill
    ? `<reasoning>\n${reasoning}\n</reasoning>\n<answer>\n${answer}\n</answer>`
    : `<reasoning>\n${reasoning}\n${answer}`
}

const scoreOf = (random: Random, skill: number) => {
  const components = Object.fromEntries(
    Object.entries(maxima).map(([name, maximum]) => {
      const raw = random() < skill ? 1 : Math.round(random() * 4) / 8
      const detail = `${name.replaceAll('_', ' ')}: ${Math.round(raw * 100)} of 100 in this completion`
      return [name, { raw, weight: maximum, weighted: raw * maximum, detail }]
    }),
  )
  const total = Object.values(components).reduce((sum, { weighted }) => sum + weighted, 0)
  return { kind: 'scored', total, components }
}

/** The prompt of a group; after 40 steps they come again. */
export const promptIdOf = (shape: Pick<LargeRun, 'groupsPerStep'>, step: number, group: number): string =>
  ((BigInt(group + shape.groupsPerStep * (step % 40)) * 0x9e3779b97f4a7c15n) % (1n << 64n))
    .toString(16)
    .padStart(16, '0')

const groupLine = (
  random: Random,
  shape: LargeRun,
  parts: ReturnType<typeof makeParts>,
  step: number,
  group: number,
): string => {
  const node = nodeIds[group % nodeIds.length] ?? 'n1'
  const skill = 0.2 + 0.75 * (step / shape.steps)
  const first = (step * shape.groupsPerStep + group) * shape.samples
  const places = Array.from({ length: shape.samples }, () => Math.floor(random() * parts.ids.length))
  const completions = places.map((at, index) => {
    const text = JSON.stringify(completionText(random, skill, first + index))
    const finish = random() < 0.97 ? 'stop' : 'length'
    return `{"index":${index},"text":${text},"tokenIds":[${parts.ids[at]}],"logprobs":[${parts.logprobs[at]}],"finishReason":"${finish}"}`
  })
  const isDead = random() < 0.1 + 0.4 * (step / shape.steps)
  const same = scoreOf(random, skill)
  const scores = places.map(() => (isDead ? same : scoreOf(random, skill)))
  const totals = scores.map(({ total }) => total)
  const mean = totals.reduce((sum, total) => sum + total, 0) / totals.length
  const std = Math.sqrt(totals.reduce((sum, total) => sum + (total - mean) ** 2, 0) / Math.max(1, totals.length - 1))
  const verdicts = scores.map(({ components }) => ({
    score: components['judge']?.raw ?? 0,
    reason: `${pick(random, words)} is grounded`,
    model: 'reference',
    cached: false,
    latencyMs: 0,
  }))
  const promptId = promptIdOf(shape, step, group)
  const advantages = {
    ...{ promptId, node },
    advantages: isDead ? totals.map(() => null) : totals.map((total) => (total - mean) / (std + 1e-4)),
    mean,
    std,
    skipped: isDead ? 'no_spread' : null,
  }
  return `{"attempt":1,"group":{"promptId":"${promptId}","node":"${node}","step":${step},"policyVersion":${step},"policyName":"policy-${step}","seed":${step},"promptTokenIds":[${pick(random, parts.prompts)}],"completions":[${completions.join(',')}]},"verdicts":${JSON.stringify(verdicts)},"scores":${JSON.stringify(scores)},"advantages":${JSON.stringify(advantages)}}\n`
}

const metricsOf = (random: Random, step: number, steps: number): string => {
  const skill = 0.2 + 0.75 * (step / steps)
  const around = (value: number): number => value * (0.9 + 0.2 * random())
  const nodes = nodeIds.flatMap((node) => [
    [`reward/${node}`, around(5.6 * skill)] as const,
    ...Object.entries(maxima).map(([name, maximum]) => [`reward/${node}/${name}`, around(maximum * skill)] as const),
  ])
  const rest = {
    ...{ reward_std: around(0.8), kl: around(0.1 * skill), entropy: around(1 - skill / 2), grad_norm: around(0.3) },
    ...{
      frac_reward_zero_std: around(0.4 * skill),
      'completions/clipped_ratio': around(0.03),
      num_tokens: 4000 * (step + 1),
    },
    ...{ 'completions/mean_length': around(60), 'time/sample': around(0.6), 'time/score': around(0.01) },
    ...{ 'time/update': around(0.3), 'time/publish': around(0.05), 'time/other': around(0.01) },
  }
  return metricsLine(step, 1, around(5.6 * skill), { ...Object.fromEntries(nodes), ...rest })
}

const metaOf = (id: string, completions: number): RunMeta => ({
  ...{ id, createdAt: '2026-01-01T00:00:00.000Z', seed: 7, versions: {}, judge: 'reference', rewardMaximum: 5.6 },
  model: { path: 'made up', hash: '', architecture: 'none', parameters: 0, dtype: 'none', device: 'none' },
  pool: { hash: '', train: completions, heldout: 0, refused: [] },
})

/** Writes a run as training would have, of made-up completions: equal seeds give equal runs. Gives its directory. */
export const makeLargeRun = async (
  directory: string,
  id: string,
  shape = hundredThousand,
  seed = 7,
): Promise<string> => {
  const run = join(directory, id)
  await mkdir(join(run, 'rollouts'), { recursive: true })
  const random = seeded(seed)
  const parts = makeParts(random, shape)
  const metrics = await open(join(run, 'metrics.jsonl'), 'w')
  for (let step = 0; step < shape.steps; step++) {
    const groups = Array.from({ length: shape.groupsPerStep }, (_, group) =>
      groupLine(random, shape, parts, step, group),
    )
    await writeFile(join(run, 'rollouts', `step-${String(step).padStart(6, '0')}.jsonl`), groups.join(''))
    await metrics.write(metricsOf(random, step, shape.steps))
  }
  await metrics.close()
  const status = statusOf({ step: shape.steps, steps: shape.steps, policyVersion: shape.steps })
  await writeFile(join(run, 'status.json'), JSON.stringify(status))
  await writeFile(join(run, 'meta.json'), JSON.stringify(metaOf(id, shape.steps)))
  await writeFile(
    join(run, 'config.resolved.json'),
    JSON.stringify({ values: { rewards: { maxima } }, provenance: {} }),
  )
  return run
}
