import { Hono, type Context } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { z } from 'zod'
import { readGroup } from './group.ts'
import { LabelRequest, type LabelRecord } from './labels/record.ts'
import { noRun } from './routes-run.ts'
import type { OpenRun, Runs } from './runs.ts'
import type { Problem } from './view.ts'

const mostBytes = 2048

const tooLong: Problem = { error: 'a mark is no longer than that', remedy: null }
const gone: Problem = {
  error: 'this completion is not on record any more: a later attempt did the step again, or its rollouts were removed',
  remedy: 'Reload the page.',
}
const readOnly: Problem = {
  error: 'the directory of this run cannot be written to',
  remedy: 'Copy the run to a place that can be, and open the dashboard there.',
}

/** A mark with the completion that it is of; null where there is no such completion. */
const recordOf = async (
  run: OpenRun,
  { label, ...name }: z.infer<typeof LabelRequest>,
): Promise<LabelRecord | null> => {
  const record = await readGroup(run.rollouts, name.step, name.group)
  const completion = record?.group.completions[name.sample]
  if (record === null || completion === undefined || record.attempt !== name.attempt) return null
  const { scores, verdicts, group } = record
  const score = scores[name.sample]
  return {
    ...{ at: new Date().toISOString(), ...name, label, node: group.node, promptId: group.promptId },
    total: score?.kind === 'scored' ? score.total : null,
    judge: verdicts[name.sample]?.score ?? null,
    completion: completion.text,
  }
}

const addMark = async (c: Context, run: OpenRun): Promise<Response> => {
  const asked = LabelRequest.safeParse(await c.req.json().catch(() => null))
  if (!asked.success) return c.json({ error: z.prettifyError(asked.error), remedy: null }, 400)
  if (!(await run.labels.isWritable())) return c.json(readOnly, 403)
  const record = await recordOf(run, asked.data)
  if (record === null) return c.json(gone, 404)
  await run.labels.add(record)
  return c.json({ label: record.label })
}

/** Marks of reviewers: the only thing that a page can write. The guard has seen that it is a page of this dashboard. */
export const labelRoutes = (runs: Runs): Hono =>
  new Hono()
    .get('/:run/labels', async (c) => {
      const run = await runs.find(c.req.param('run'))
      if (run === undefined) return c.json(noRun, 404)
      await run.labels.refresh()
      const lines = run.labels.all().map((record) => `${JSON.stringify(record)}\n`)
      return c.body(lines.join(''), 200, {
        'Content-Type': 'application/jsonl; charset=utf-8',
        'Content-Disposition': 'attachment; filename="labels.jsonl"',
      })
    })
    .post('/:run/labels', bodyLimit({ maxSize: mostBytes, onError: (c) => c.json(tooLong, 413) }), async (c) => {
      const run = await runs.find(c.req.param('run'))
      return run === undefined ? c.json(noRun, 404) : addMark(c, run)
    })
