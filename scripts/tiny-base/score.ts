import { createInterface } from 'node:readline'
import { z } from 'zod'
import { Prompt } from '../../data/records/prompt.ts'
import { isExactlyRight } from '../../judge/accuracy.ts'
import { createJudge } from '../../judge/create.ts'
import { RewardsConfig } from '../../rewards/config.ts'
import { createScorer } from '../../rewards/scorer.ts'

const Line = z.strictObject({ prompt: Prompt, completions: z.array(z.string()) })

const scorer = createScorer(RewardsConfig.parse({ profile: 'hardened' }), await createJudge({ kind: 'reference' }))

const score = async (prompt: Prompt, completion: string) => {
  const result = await scorer.score(prompt, completion)
  if (result.kind === 'unscored') throw new Error(`${prompt.id}: ${result.reason}`)
  const parts = Object.entries(result.components).map(([name, { weighted }]) => [name, weighted] as const)
  return { total: result.total, right: isExactlyRight(prompt, completion), parts: Object.fromEntries(parts) }
}

/** Scores completions under the hardened profile and the reference judge: one JSON line in, one out, in order. */
for await (const line of createInterface({ input: process.stdin })) {
  const { prompt, completions } = Line.parse(JSON.parse(line))
  const scores = await Promise.all(completions.map(async (completion) => score(prompt, completion)))
  process.stdout.write(`${JSON.stringify(scores)}\n`)
}
