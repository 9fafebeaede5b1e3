import { z } from 'zod'

/**
 * One line of metrics.jsonl: what a step did, flat, so that any tool for JSON lines reads it as a table. Keys follow
 * TRL where TRL has one; `reward/<node>` and `reward/<node>/<component>` are means of weighted contributions;
 * `time/*` are seconds. Null: there was nothing to measure in this step.
 */
export const StepMetrics = z
  .object({
    step: z.int().min(0),
    attempt: z.int().min(1),
    /** ISO 8601, UTC. */
    at: z.iso.datetime(),
    /** Version sampled from, and version after the update (equal when no group had a gradient). */
    from_version: z.int().min(0),
    policy_version: z.int().min(0),
  })
  .catchall(z.union([z.number(), z.null()]))
export interface StepMetrics {
  step: number
  attempt: number
  at: string
  from_version: number
  policy_version: number
  [key: string]: number | string | null
}
