import { Hono } from 'hono'
import { z } from 'zod'
import { PipelineError } from '../../data/errors.ts'
import { RolloutRecord } from '../../data/records/run.ts'
import { noRun } from './routes-run.ts'
import { summariseComponents } from './rollouts/by-component.ts'
import { summariseJudge } from './rollouts/by-judge.ts'
import { summariseNodes } from './rollouts/by-node.ts'
import { RolloutFilter, selectPage } from './rollouts/filter.ts'
import type { RolloutIndex } from './rollouts/index-run.ts'
import { readRows } from './rollouts/rows.ts'
import type { OpenRun, Runs } from './runs.ts'
import type { GroupDetail, GroupPlace, NodeReply, RolloutPage } from './view.ts'
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

const pageOf = async (index: RolloutIndex, filter: RolloutFilter): Promise<RolloutPage> => {
  await index.refresh()
  return index.hold(async () => {
    const { text = '', regex } = filter
    const search = text === '' ? null : index.searches.of({ text, isExpression: regex !== undefined })
    await search?.run(searchMs)
    const { matches, page, rows } = selectPage(index, filter, search, pageSize)
    return {
      progress: index.progress(),
      isSearching: search !== null && !search.isComplete,
      searchProblem: search?.problem ?? null,
      matches,
      page,
      pages: Math.max(1, Math.ceil(matches / pageSize)),
      rows: await readRows(index, rows),
      components: index.columns.components,
    }
  })
}

const placesOf = (index: RolloutIndex, promptId: string): GroupPlace[] => {
  const { columns } = index
  const wanted = columns.promptNumber(promptId)
  const places = new Map<string, { step: number; group: number; sum: number; n: number }>()
  for (let row = 0; row < columns.count; row++) {
    if (columns.of.prompt.data[row] !== wanted || !index.isLive(row)) continue
    const [step, group] = [columns.of.step.data[row] ?? 0, columns.of.groupInFile.data[row] ?? 0]
    const place = places.get(`${step}:${group}`) ?? { step, group, sum: 0, n: 0 }
    places.set(`${step}:${group}`, place)
    const total = columns.of.total.data[row] ?? Number.NaN
    if (Number.isNaN(total)) continue
    place.sum += total
    place.n++
  }
  return [...places.values()]
    .map(({ step, group, sum, n }) => ({ step, group, mean: n === 0 ? null : sum / n }))
    .toSorted((a, b) => a.step - b.step)
}

const withoutTokens = ({ group, ...rest }: RolloutRecord): GroupDetail['record'] => {
  const { promptTokenIds, completions, ...head } = group
  return {
    ...rest,
    group: {
      ...head,
      promptTokens: promptTokenIds.length,
      completions: completions.map(({ index, text, tokenIds, logprobs, finishReason }) => {
        const sum = logprobs.reduce((total, value) => total + value, 0)
        return {
          ...{ index, text, finishReason, tokens: tokenIds.length },
          meanLogprob: logprobs.length === 0 ? null : sum / logprobs.length,
        }
      }),
    },
  }
}

/** The index reads less of a record than is shown here: one of another version, or spoilt, is found out only now. */
const readRecord = (line: Buffer, step: number, group: number): RolloutRecord => {
  try {
    return RolloutRecord.parse(JSON.parse(line.toString('utf8')))
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message
    throw new PipelineError('checkpoint', `group ${group} of step ${step} cannot be read: ${reason}`, { cause: error })
  }
}

const groupOf = async (
  { rollouts: index, prompts, evaluations }: OpenRun,
  step: number,
  group: number,
): Promise<GroupDetail | null> => {
  await index.refresh()
  if (index.findGroup(step, group) === undefined) await index.complete()
  const row = index.findGroup(step, group)
  if (row === undefined) return null
  const record = readRecord(await index.line(row), step, group)
  const { promptId } = record.group
  return {
    record: withoutTokens(record),
    prompt: await prompts.find(promptId),
    places: placesOf(index, promptId),
    base: await evaluations.baseCompletions(promptId),
  }
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
      return c.json(await pageOf(run.rollouts, filter.data))
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
      return c.json(await index.hold(() => nodes.get(index, summarise)))
    })
    .get('/:run/judge', async (c) => {
      const run = await runs.find(c.req.param('run'))
      if (run === undefined) return c.json(noRun, 404)
      const index = run.rollouts
      await index.refresh()
      const maxima = await run.reader.maxima()
      const summarise = () => summariseJudge(index, maxima)
      return c.json(await index.hold(() => judges.get(index, summarise, JSON.stringify(maxima))))
    })
    .get('/:run/components', async (c) => {
      const run = await runs.find(c.req.param('run'))
      if (run === undefined) return c.json(noRun, 404)
      await run.rollouts.refresh()
      return c.json(summariseComponents(run.rollouts, await run.reader.maxima()))
    })
}
