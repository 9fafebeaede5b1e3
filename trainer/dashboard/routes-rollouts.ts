import { Hono } from 'hono'
import { z } from 'zod'
import { groupOf } from './group.ts'
import type { Labels } from './labels/store.ts'
import { noRun } from './routes-run.ts'
import { summariseComponents } from './rollouts/by-component.ts'
import { summariseJudge } from './rollouts/by-judge.ts'
import { summariseNodes } from './rollouts/by-node.ts'
import { RolloutFilter, selectPage } from './rollouts/filter.ts'
import type { RolloutIndex } from './rollouts/index-run.ts'
import { readRows } from './rollouts/rows.ts'
import type { OpenRun, Runs } from './runs.ts'
import type { NodeReply, RolloutPage, RolloutRow } from './view.ts'
import type { JudgeReply } from './view-judge.ts'

const pageSize = 50

/** Keeps what was computed of an index until its rows change, or what else it depends on; a failure is not kept. */
class PerVersion<T> {
  readonly #kept = new WeakMap<RolloutIndex, { version: string; value: Promise<T> }>()
  get(index: RolloutIndex, compute: () => Promise<T>, also = ''): Promise<T> {
    const version = `${index.version} ${also}`
    const known = this.#kept.get(index)
    if (known?.version === version) return known.value
    const value = compute()
    this.#kept.set(index, { version, value })
    value.catch(() => this.#kept.delete(index))
    return value
  }
}

/** A search that takes longer answers with what it has found, and goes on for the next question. */
const searchMs = 90

/** Marks are read with every answer: they change by themselves. */
const marked = (labels: Labels, rows: readonly RolloutRow[]): RolloutRow[] =>
  rows.map((row) => ({ ...row, label: labels.of(row) }))

const pageOf = async ({ rollouts: index, labels }: OpenRun, filter: RolloutFilter): Promise<RolloutPage> => {
  await Promise.all([index.refresh(), labels.refresh()])
  return index.hold(async () => {
    const { text = '', regex, in: where } = filter
    const search = text === '' ? null : index.searches.of({ text, isExpression: regex !== undefined, where })
    await search?.run(searchMs)
    const { matches, page, rows } = selectPage(index, filter, search, pageSize, labels)
    return {
      progress: index.progress(),
      isSearching: search !== null && !search.isComplete,
      searchProblem: search?.problem ?? null,
      matches,
      page,
      pages: Math.max(1, Math.ceil(matches / pageSize)),
      rows: marked(labels, await readRows(index, rows)),
      components: index.columns.components,
    }
  })
}

const place = z.object({ step: z.coerce.number().int().min(0), group: z.coerce.number().int().min(0) })

/** Completions: lists, groups, and what can be summed over them. */
export const rolloutRoutes = (runs: Runs): Hono => {
  const nodes = new PerVersion<NodeReply>()
  const judges = new PerVersion<JudgeReply>()
  return new Hono()
    .get('/:run/rollouts', async (c) => {
      const run = await runs.find(c.req.param('run'))
      if (run === undefined) return c.json(noRun, 404)
      const filter = RolloutFilter.safeParse(c.req.query())
      if (!filter.success) return c.json({ error: z.prettifyError(filter.error), remedy: null }, 400)
      return c.json(await pageOf(run, filter.data))
    })
    .get('/:run/groups/:step/:group', async (c) => {
      const run = await runs.find(c.req.param('run'))
      const wanted = place.safeParse(c.req.param())
      const detail =
        run === undefined || !wanted.success ? null : await groupOf(run, wanted.data.step, wanted.data.group)
      return detail === null ? c.json({ error: 'there is no such group', remedy: null }, 404) : c.json(detail)
    })
    .get('/:run/nodes', async (c) => {
      const run = await runs.find(c.req.param('run'))
      if (run === undefined) return c.json(noRun, 404)
      const index = run.rollouts
      await index.refresh()
      const summarise = async () => ({ progress: index.progress(), nodes: await summariseNodes(index) })
      const reply = await index.hold(() => nodes.get(index, summarise))
      await run.labels.refresh()
      const withMarks = reply.nodes.map((one) => ({
        ...one,
        best: marked(run.labels, one.best),
        worst: marked(run.labels, one.worst),
      }))
      return c.json({ ...reply, nodes: withMarks })
    })
    .get('/:run/judge', async (c) => {
      const run = await runs.find(c.req.param('run'))
      if (run === undefined) return c.json(noRun, 404)
      const index = run.rollouts
      await index.refresh()
      const maxima = await run.reader.maxima()
      const summarise = () => summariseJudge(index, maxima)
      const reply = await index.hold(() => judges.get(index, summarise, JSON.stringify(maxima)))
      await run.labels.refresh()
      const suspects = reply.suspects.map((one) => ({ ...one, row: { ...one.row, label: run.labels.of(one.row) } }))
      return c.json({ ...reply, suspects })
    })
    .get('/:run/components', async (c) => {
      const run = await runs.find(c.req.param('run'))
      if (run === undefined) return c.json(noRun, 404)
      await run.rollouts.refresh()
      return c.json(summariseComponents(run.rollouts, await run.reader.maxima()))
    })
}
