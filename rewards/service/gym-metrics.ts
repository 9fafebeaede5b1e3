import { z } from 'zod'

const VerifyResponse = z.looseObject({
  reward: z.number(),
  mask_sample: z.boolean().optional(),
  _ng_task_index: z.int().optional(),
})
type VerifyResponse = z.infer<typeof VerifyResponse>

/** What NeMo-Gym's evaluation posts to `/aggregate_metrics`: all answers of `/verify`. */
export const VerifyResponses = z.looseObject({ verify_responses: z.array(VerifyResponse) })

type Means = Readonly<Record<string, number>>

const meansOf = (responses: readonly VerifyResponse[], keys: readonly string[]): Means =>
  Object.fromEntries(
    keys.flatMap((key) => {
      const values = responses.map((response) => response[key]).filter((value) => typeof value === 'number')
      return values.length === 0 ? [] : [[`mean/${key}`, values.reduce((sum, value) => sum + value, 0) / values.length]]
    }),
  )

/** Means over all answers and over those of each task. Masked answers have no reward and are only counted. */
export const aggregate = (responses: readonly VerifyResponse[], names: readonly string[]) => {
  const keys = ['reward', ...names]
  const scored = responses.filter(({ mask_sample: masked }) => masked !== true)
  const tasks = new Map<number, VerifyResponse[]>()
  for (const response of scored) {
    const { _ng_task_index: task } = response
    if (task !== undefined) tasks.set(task, [...(tasks.get(task) ?? []), response])
  }
  const groups = [...tasks].map(([task, own]) => ({ _ng_task_index: task, ...meansOf(own, keys) }))
  return {
    group_level_metrics: groups,
    agent_metrics: { ...meansOf(scored, keys), unscored: responses.length - scored.length },
    key_metrics: meansOf(scored, ['reward']),
  }
}
