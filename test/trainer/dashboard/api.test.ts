import { appendFile, cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type {
  ComponentReply,
  EvaluationReply,
  GroupDetail,
  NodeReply,
  Overview,
  RolloutPage,
} from '../../../trainer/dashboard/view.ts'
import { dashboardApp, makeRuns, metricsLine, serveDashboard, statusOf } from '../../support/dashboard.ts'

describe('what the dashboard reads of a run', () => {
  let runs: Awaited<ReturnType<typeof makeRuns>>
  let app: ReturnType<typeof dashboardApp>
  beforeAll(async () => {
    runs = await makeRuns()
    app = dashboardApp(runs.directory)
  })
  afterAll(() => runs.remove())
  const get = async <T>(path: string): Promise<T> => {
    const response = await app.request(`http://localhost/api/runs/mine${path}`)
    expect({ status: response.status, path }).toEqual({ status: 200, path })
    return (await response.json()) as T
  }
  /** Every completion on record, as it was written. */
  const recorded = async () => {
    const folder = join(runs.run, 'rollouts')
    const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')))
    const groups = texts.flatMap((text) =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as GroupDetail['record']),
    )
    return groups.flatMap(({ group, scores }) =>
      group.completions.map(({ text }, i) => ({ node: group.node, text, score: scores[i] })),
    )
  }

  it('finds exactly the completions that pass a filter', async () => {
    const all = await recorded()
    const totals = all.map(({ score }) => (score?.kind === 'scored' ? score.total : Number.NaN))
    const page = async (query: string) => get<RolloutPage>(`/rollouts?${query}`)
    // Completions are read in the background; a page shows those that are read.
    await expect.poll(async () => (await page('')).matches).toBe(all.length)
    expect((await page('node=n3')).matches).toBe(all.filter(({ node }) => node === 'n3').length)
    expect((await page('most=2')).matches).toBe(totals.filter((total) => total <= 2).length)
    const word = all[0]?.text.slice(12, 24) ?? ''
    const holding = all.filter(({ text }) => text.toLowerCase().includes(word.toLowerCase())).length
    expect((await page(new URLSearchParams({ text: word.toUpperCase() }).toString())).matches).toBe(holding)
    const best = (await page('sort=best')).rows.map(({ total }) => total ?? Number.NaN)
    expect(best).toEqual(best.toSorted((a, b) => b - a))
    expect(best[0]).toBeCloseTo(Math.max(...totals.filter((total) => !Number.isNaN(total))), 5)
  })
  it('finds words in the reasons of the judge, and not in completions', async () => {
    const folder = join(runs.run, 'rollouts')
    const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')))
    const reasons = texts
      .flatMap((text) => text.trim().split('\n'))
      .flatMap((line) => (JSON.parse(line) as GroupDetail['record']).verdicts.flatMap((one) => one?.reason ?? []))
    const word = (reasons[0] ?? '').split(' ').find((part) => part.length > 4) ?? ''
    const page = async (query: Record<string, string>): Promise<RolloutPage> =>
      get<RolloutPage>(`/rollouts?${new URLSearchParams({ in: 'reason', ...query }).toString()}`)
    const holding = reasons.filter((reason) => reason.toLowerCase().includes(word.toLowerCase())).length
    expect(holding).toBeGreaterThan(0)
    await expect.poll(async () => (await page({ text: word.toUpperCase() })).matches).toBe(holding)
    const { rows } = await page({ text: word })
    for (const { judge } of rows) expect(judge?.reason.toLowerCase()).toContain(word.toLowerCase())
    expect((await page({ text: '<reasoning>' })).matches).toBe(0)
    const starting = reasons.filter((reason) => /^[a-m]/i.test(reason)).length
    expect((await page({ text: '^[a-m]', regex: 'on' })).matches).toBeGreaterThanOrEqual(starting)
  })
  it('takes the statistics that an evaluation wrote, and those only that are of its samples', async () => {
    const { statistics } = await get<EvaluationReply>('/evaluations/final')
    const shown = async (name: string, written: string): Promise<EvaluationReply['statistics']> => {
      await cp(join(runs.run, 'eval', 'final'), join(runs.run, 'eval', name), { recursive: true })
      await writeFile(join(runs.run, 'eval', name, 'statistics.json'), written)
      return (await get<EvaluationReply>(`/evaluations/${name}`)).statistics
    }
    const marked = { ...statistics, results: statistics.results.slice(0, 1) }
    expect(await shown('written', JSON.stringify(marked))).toEqual(marked)
    const [first, ...rest] = statistics.promptDeltas
    const others = { ...marked, promptDeltas: [{ ...first, trained: -1 }, ...rest] }
    expect(await shown('others', JSON.stringify(others))).toEqual(statistics)
    expect(await shown('seed', JSON.stringify({ ...marked, seed: 99 }))).toEqual(statistics)
    expect(await shown('torn', '{"seed":')).toEqual(statistics)
    for (const name of ['written', 'others', 'seed', 'torn'])
      await rm(join(runs.run, 'eval', name), { recursive: true })
  })
  it('says what is wrong with a filter', async () => {
    const response = await app.request('http://localhost/api/runs/mine/rollouts?node=n9')
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('node')
  })
  it('shows a group with its prompt, without the token ids', async () => {
    const { rows } = await get<RolloutPage>('/rollouts')
    const [first] = rows
    const detail = await get<GroupDetail>(`/groups/${first?.step}/${first?.group}`)
    expect(detail.record.group.promptId).toBe(first?.promptId)
    expect(detail.record.group.completions[first?.sample ?? 0]?.text.slice(0, 400)).toBe(first?.excerpt)
    expect(detail.prompt?.messages.length).toBeGreaterThan(1)
    expect(JSON.stringify(detail)).not.toContain('tokenIds')
    expect(detail.places.map(({ step }) => step)).toContain(first?.step)
  })
  it('counts completions by node and component, and checks that contributions sum to totals', async () => {
    const all = await recorded()
    const { nodes } = await get<NodeReply>('/nodes')
    for (const { node, completions } of nodes)
      expect(completions.reduce((sum, one) => sum + one, 0)).toBe(all.filter((one) => one.node === node).length)
    const { cells, sumError } = await get<ComponentReply>('/components')
    expect(sumError).toBeLessThan(1e-9)
    expect(cells.length).toBeGreaterThan(9)
  })
  it('compares base and trained in the words of the gate', async () => {
    const { headline, verdict, statistics } = await get<EvaluationReply>('/evaluations/final')
    expect(verdict?.schema).toBe('drift-grpo/regression/1')
    expect(headline).toContain(verdict?.verdict === 'pass' ? 'PASS' : 'REGRESSION')
    expect(statistics.results.length).toBeGreaterThan(10)
  })
  it('shows the attempts of a resumed run and a copied run under another name', async () => {
    await cp(runs.run, join(runs.directory, 'copied'), { recursive: true })
    await appendFile(join(runs.directory, 'copied', 'metrics.jsonl'), metricsLine(1, 2, 5))
    const response = await app.request('http://localhost/api/runs/copied/series?keys=reward')
    const { current, superseded } = (await response.json()) as { current: { values: object }; superseded: object[] }
    expect(current.values).toEqual({ reward: [1, 5] })
    expect(superseded).toHaveLength(1)
  })
  it('says of a run that says it runs, and whose process is gone, that it is lost', async () => {
    await writeFile(join(runs.run, 'status.json'), JSON.stringify(statusOf({ state: 'running' })))
    expect((await get<Overview>('')).card.state).toBe('lost')
  })
  it('shows a damaged run as one, beside the others', async () => {
    await cp(runs.run, join(runs.directory, 'broken'), { recursive: true })
    await writeFile(join(runs.directory, 'broken', 'status.json'), '{"state":')
    const list = (await (await app.request('http://localhost/api/runs')).json()) as {
      runs: { id: string; state: string }[]
    }
    expect(list.runs.find(({ id }) => id === 'broken')?.state).toBe('unreadable')
    expect(list.runs.length).toBeGreaterThan(1)
  })
})

describe('live updates', () => {
  it('tells of a new step while the request is open', async () => {
    const runs = await makeRuns()
    const server = await serveDashboard(runs.directory)
    try {
      const response = await fetch(`${server.url}/api/runs/mine/live`)
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      const until = async (part: string): Promise<void> => {
        while (!text.includes(part)) text += (await reader?.read())?.value ?? ''
      }
      await until('event: open')
      // Appends until the watcher, which first has to look once, has seen one.
      let step = 2
      const writing = setInterval(
        () => void appendFile(join(runs.run, 'metrics.jsonl'), metricsLine(step++, 1, 3)),
        100,
      )
      await until('"metrics"').finally(() => clearInterval(writing))
      expect(text).toContain('event: change')
      await reader?.cancel()
    } finally {
      await server.stop()
      await runs.remove()
    }
  })
})
