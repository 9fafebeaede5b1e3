import { symlinkSync } from 'node:fs'
import { appendFile, cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LabelRecord } from '../../../trainer/dashboard/labels/record.ts'
import type { GroupDetail, NodeReply, RolloutPage, RolloutRow } from '../../../trainer/dashboard/view.ts'
import { dashboardApp, makeRuns } from '../../support/dashboard.ts'
import { canMount, mountSmallDisk } from '../../support/small-disk.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const origin = 'http://localhost'
const ownPage = { host: 'localhost', origin, 'x-drift-grpo': 'mark', 'content-type': 'application/json' }

/** Reads and marks the completions of a run as a page does. */
const visitor = (directory: string) => {
  const app = dashboardApp(directory)
  const get = async <T>(path: string): Promise<T> =>
    (await (await app.request(`${origin}/api/runs/mine${path}`)).json()) as T
  const post = (body: unknown, headers: Record<string, string> = ownPage, run = 'mine') =>
    app.request(`${origin}/api/runs/${run}/labels`, { method: 'POST', headers, body: JSON.stringify(body) })
  const list = (query = '') => get<RolloutPage>(`/rollouts?${query}`)
  const whole = async (): Promise<RolloutPage> => {
    await expect.poll(async () => (await list()).progress).toMatchObject({ filesDone: 2, files: 2 })
    return list()
  }
  return { app, get, post, list, whole }
}
const nameOf = ({ attempt, step, group, sample }: RolloutRow) => ({ attempt, step, group, sample })

describe('marks of a reviewer', () => {
  let runs: Awaited<ReturnType<typeof makeRuns>>
  beforeEach(async () => {
    runs = await makeRuns()
  })
  afterEach(() => runs.remove())
  const file = (): string => join(runs.run, 'labels.jsonl')
  const written = async (): Promise<LabelRecord[]> =>
    (await readFile(file(), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => LabelRecord.parse(JSON.parse(line)))

  it('are written with their completion, shown wherever it is, filtered by, and given out; the last one counts', async () => {
    const { app, get, post, list, whole } = visitor(runs.directory)
    const { rows, matches } = await whole()
    const [first, second, third] = rows
    if (first === undefined || second === undefined || third === undefined) throw new Error('too few completions')
    for (const [row, label] of [
      [first, 'fine'],
      [second, 'fine'],
      [first, 'hack'],
      [third, 'hack'],
      [third, 'none'],
    ] as const) {
      const response = await post({ ...nameOf(row), label })
      expect([response.status, await response.json()]).toEqual([200, { label }])
    }
    const records = await written()
    expect(records.map(({ label }) => label)).toEqual(['fine', 'fine', 'hack', 'hack', 'none'])
    expect(records[0]).toMatchObject({ ...nameOf(first), node: first.node, promptId: first.promptId })
    expect(records[0]?.completion.slice(0, 400)).toBe(first.excerpt)
    expect(records[0]?.judge).toBe(first.judge?.score ?? null)

    expect((await list('label=hack')).rows.map(nameOf)).toEqual([nameOf(first)])
    expect((await list('label=any')).rows.map(({ label }) => label)).toEqual(['hack', 'fine'])
    expect((await list('label=fine')).matches).toBe(1)
    expect((await list()).matches).toBe(matches)
    const { labels, takesLabels } = await get<GroupDetail>(`/groups/${first.step}/${first.group}`)
    expect([labels[first.sample], takesLabels]).toEqual(['hack', true])
    const { nodes } = await get<NodeReply>('/nodes')
    const cards = nodes.flatMap(({ best, worst }) => [...best, ...worst])
    for (const card of cards.filter((one) => JSON.stringify(nameOf(one)) === JSON.stringify(nameOf(first))))
      expect(card.label).toBe('hack')
    const given = await app.request(`${origin}/api/runs/mine/labels`)
    expect(given.headers.get('content-disposition')).toContain('labels.jsonl')
    const lines = (await given.text()).trim().split('\n')
    expect(lines.map((line) => LabelRecord.parse(JSON.parse(line)).label).toSorted()).toEqual(['fine', 'hack'])
  })
  it('are of one attempt: a step that was done again has none', async () => {
    const { post, list, whole } = visitor(runs.directory)
    const row = (await whole()).rows[0]
    if (row === undefined) throw new Error('no completions')
    expect((await post({ ...nameOf(row), attempt: row.attempt + 1, label: 'hack' })).status).toBe(404)
    await post({ ...nameOf(row), label: 'hack' })
    expect((await list('label=any')).matches).toBe(1)
    const path = join(runs.run, 'rollouts', `step-${String(row.step).padStart(6, '0')}.jsonl`)
    const again = (await readFile(path, 'utf8')).replaceAll(
      `"attempt":${row.attempt},`,
      `"attempt":${row.attempt + 10},`,
    )
    await writeFile(path, again)
    await expect.poll(async () => (await list('label=any')).matches).toBe(0)
  })
  it('are read past lines that are none, and those of another dashboard too', async () => {
    const { post, list, whole } = visitor(runs.directory)
    const [first, second] = (await whole()).rows
    if (first === undefined || second === undefined) throw new Error('too few completions')
    await post({ ...nameOf(first), label: 'fine' })
    await appendFile(file(), '{"label":"hack"}\nno JSON\n{"at":')
    const other = visitor(runs.directory)
    await other.whole()
    expect((await other.post({ ...nameOf(second), label: 'hack' })).status).toBe(200)
    for (const one of [list, other.list]) expect((await one('label=any')).matches).toBe(2)
    await rm(file())
    expect((await list('label=any')).matches).toBe(0)
  })
  it.each([
    ['no header of ours', { host: 'localhost', origin, 'content-type': 'application/json' }],
    ['no origin', { host: 'localhost', 'x-drift-grpo': 'mark' }],
    ['the origin of another site', { ...ownPage, origin: 'http://evil.example' }],
    ['another port of this machine', { ...ownPage, origin: 'http://localhost:8080' }],
    ['the site of another page', { ...ownPage, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }],
    ['the name of another host', { ...ownPage, host: 'evil.example', origin: 'http://evil.example' }],
  ])('are not taken from a request with %s', async (_, headers) => {
    const { post } = visitor(runs.directory)
    expect((await post({ attempt: 1, step: 0, group: 0, sample: 0, label: 'hack' }, headers)).status).toBe(403)
    await expect(readFile(file())).rejects.toThrow('ENOENT')
  })
  it('are the only thing that is taken', async () => {
    const { app } = visitor(runs.directory)
    for (const path of ['/api/runs', '/api/runs/mine', '/api/runs/mine/rollouts', '/api/runs/mine/labels/x', '/'])
      expect((await app.request(`${origin}${path}`, { method: 'POST', headers: ownPage, body: '{}' })).status).toBe(405)
    for (const method of ['PUT', 'DELETE', 'PATCH'])
      expect((await app.request(`${origin}/api/runs/mine/labels`, { method, headers: ownPage })).status).toBe(405)
  })
  it.each([
    [400, { label: 'hack' }],
    [400, { attempt: 1, step: '../1', group: 0, sample: 0, label: 'hack' }],
    [400, { attempt: 1, step: 1, group: 0, sample: 0, label: 'worse' }],
    [400, { attempt: 1, step: 1, group: 0, sample: 0, label: 'hack', path: '/etc/passwd' }],
    [404, { attempt: 1, step: 10_000, group: 0, sample: 0, label: 'hack' }],
    [404, { attempt: 1, step: 1, group: 0, sample: 999, label: 'hack' }],
    [413, { label: 'x'.repeat(5000) }],
  ])('are refused with %i where they are %j', async (status, body) => {
    const { post, whole } = visitor(runs.directory)
    await whole()
    expect((await post(body)).status).toBe(status)
    await expect(readFile(file())).rejects.toThrow('ENOENT')
  })
  it.each(['...', 'nothing', '../mine', '%2e%2e'])('are of no run named %s', async (run) => {
    const { post } = visitor(runs.directory)
    expect(
      (await post({ attempt: 1, step: 1, group: 0, sample: 0, label: 'hack' }, ownPage, encodeURIComponent(run)))
        .status,
    ).toBe(404)
  })
  it('are not written through a link that came later', async () => {
    const { post, whole } = visitor(runs.directory)
    const row = (await whole()).rows[0]
    if (row === undefined) throw new Error('no completions')
    const elsewhere = join(temporaryDirectory(), 'secret')
    await writeFile(elsewhere, 'as it was')
    symlinkSync(elsewhere, file())
    const response = await post({ ...nameOf(row), label: 'hack' })
    expect([response.status, await response.text()]).toEqual([422, expect.stringContaining('no file of its own')])
    expect(await readFile(elsewhere, 'utf8')).toBe('as it was')
  })
  it.skipIf(!canMount())(
    'say why where the disk is full or read-only (skipped where nothing can be mounted)',
    async () => {
      const disk = mountSmallDisk(8 << 20)
      try {
        await cp(runs.run, join(disk.path, 'mine'), { recursive: true })
        const { get, post, whole } = visitor(disk.path)
        const row = (await whole()).rows[0]
        if (row === undefined) throw new Error('no completions')
        disk.resize(disk.usedBytes())
        const full = await post({ ...nameOf(row), label: 'hack' })
        expect([full.status, await full.text()]).toEqual([422, expect.stringContaining('the disk is full')])
        disk.resize(16 << 20)
        expect((await post({ ...nameOf(row), label: 'hack' })).status).toBe(200)
        disk.readOnly(true)
        const refused = await post({ ...nameOf(row), label: 'fine' })
        expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('cannot be written to')])
        expect(await get<GroupDetail>(`/groups/${row.step}/${row.group}`)).toMatchObject({ takesLabels: false })
        disk.readOnly(false)
      } finally {
        disk.unmount()
      }
    },
  )
})
