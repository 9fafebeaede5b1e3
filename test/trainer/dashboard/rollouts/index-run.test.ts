import { chmod, cp, mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RolloutFilter, selectPage } from '../../../../trainer/dashboard/rollouts/filter.ts'
import { RolloutRecord } from '../../../../data/records/run.ts'
import { RolloutIndex } from '../../../../trainer/dashboard/rollouts/index-run.ts'
import { readRows } from '../../../../trainer/dashboard/rollouts/rows.ts'
import { indexFolder } from '../../../../trainer/dashboard/rollouts/segment-store.ts'
import { makeLargeRun } from '../../../support/large-run.ts'

const shape = { steps: 70, groupsPerStep: 5, samples: 2, tokens: 10, promptTokens: 20 }

let directory = ''
let run = ''
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'drift-grpo-index-'))
  run = await makeLargeRun(directory, 'mine', shape)
})
afterEach(() => rm(directory, { recursive: true }))

const opened = async (root = run): Promise<RolloutIndex> => {
  const index = new RolloutIndex(root)
  await index.complete()
  return index
}

/** What a page shows, for all pages of a filter. */
const all = async (index: RolloutIndex, asked: Record<string, string> = {}) => {
  const filter = RolloutFilter.parse(asked)
  const search =
    filter.text === undefined
      ? null
      : index.searches.of({ text: filter.text, isExpression: filter.regex === 'on', where: filter.in })
  await search?.run(60_000)
  return readRows(index, selectPage(index, filter, search, 1_000_000).rows)
}

const segments = async (root = run): Promise<string[]> =>
  (await readdir(join(root, indexFolder)).catch((): string[] => [])).toSorted()

const filters: Record<string, string>[] = [
  {},
  { sort: 'best' },
  { sort: 'worst', node: 'n3' },
  { sort: 'judge', component: 'json_valid', below: '0.5' },
  { text: 'ROLLBACK calendar' },
  { text: 'calendar 1', sort: 'longest' },
  { text: 'is_aligned": "y".*\\d+"}$', regex: 'on' },
  { text: 'calendar IS grounded', in: 'reason' },
  { text: '^(mail|task) is', in: 'reason', regex: 'on', node: 'n2' },
  { state: 'dead', from: '10', to: '40', sort: 'advantage' },
]

describe('the index of a run’s rollouts', () => {
  it('is tested on rollouts as a training writes them', async () => {
    const text = await readFile(join(run, 'rollouts', 'step-000000.jsonl'), 'utf8')
    for (const line of text.trim().split('\n')) expect(RolloutRecord.safeParse(JSON.parse(line)).error).toBeUndefined()
  })
  it.each(filters)('answers %j from its segments as from the rollouts', async (filter) => {
    const first = await all(await opened(), filter)
    expect(await segments()).toHaveLength(1)
    const again = await opened()
    expect(again.progress()).toMatchObject({ filesDone: shape.steps, files: shape.steps, rollouts: 700, unreadable: 0 })
    expect(await all(again, filter)).toEqual(first)
  })
  it('is the same for a copy of the run, with or without its segments', async () => {
    const first = await all(await opened())
    const later = new Date(Date.now() + 5000)
    await cp(run, join(directory, 'copy'), { recursive: true })
    for (const name of await readdir(join(directory, 'copy', 'rollouts')))
      await utimes(join(directory, 'copy', 'rollouts', name), later, later)
    const copy = await opened(join(directory, 'copy'))
    expect(await all(copy)).toEqual(first)
    // Nothing was read anew, so nothing is written.
    expect(await segments(join(directory, 'copy'))).toEqual(await segments())
    await rm(join(directory, 'copy', indexFolder), { recursive: true })
    expect(await all(await opened(join(directory, 'copy')))).toEqual(first)
  })
  it('does not take what an attempt did again for what it did before', async () => {
    await opened()
    const other = await makeLargeRun(directory, 'other', shape, 8)
    const again = ['step-000068.jsonl', 'step-000069.jsonl']
    for (const name of again) await cp(join(other, 'rollouts', name), join(run, 'rollouts', name))
    const fresh = join(directory, 'fresh')
    await cp(run, fresh, { recursive: true })
    await rm(join(fresh, indexFolder), { recursive: true })
    expect(await all(await opened())).toEqual(await all(await opened(fresh)))
  })
  it('sees steps that are written and steps that are gone while it is open', async () => {
    const index = await opened()
    await cp(join(run, 'rollouts', 'step-000000.jsonl'), join(run, 'rollouts', 'step-000070.jsonl'))
    await rm(join(run, 'rollouts', 'step-000001.jsonl'))
    await index.complete()
    expect(index.progress()).toMatchObject({ filesDone: 70, rollouts: 700 })
  })
  it('shows the rest of a run in which files cannot be read', async () => {
    const names = [65, 66, 67, 68, 69].map((step) => join(run, 'rollouts', `step-0000${step}.jsonl`))
    const index = await opened()
    // Not even root can read a folder as a file.
    for (const name of names) {
      await rm(name)
      await mkdir(name)
    }
    await index.complete()
    expect(index.progress()).toMatchObject({ filesDone: 70, files: 70, rollouts: 650, unreadable: 5 })
    expect(await all(index)).toHaveLength(650)
    expect((await opened()).progress()).toMatchObject({ files: 70, rollouts: 650, unreadable: 5 })
  })
  it('keeps nothing of steps that are gone, while it is open and later', async () => {
    const index = await opened()
    const [segment = ''] = await segments()
    const other = await makeLargeRun(directory, 'other', { ...shape, steps: 200 }, 8)
    for (let step = 70; step < 200; step++) {
      const name = (of: number): string => `step-${String(of).padStart(6, '0')}.jsonl`
      await cp(join(other, 'rollouts', name(step)), join(run, 'rollouts', name(step)))
      await rm(join(run, 'rollouts', name(step - 70)))
      if (step % 10 === 9) await index.complete()
    }
    expect(index.progress()).toMatchObject({ rollouts: 700 })
    expect(index.columns.count).toBeLessThanOrEqual(1400)
    expect(await segments()).not.toContain(segment)
    const fresh = join(directory, 'fresh')
    await cp(run, fresh, { recursive: true })
    await rm(join(fresh, indexFolder), { recursive: true })
    for (const filter of filters) {
      const expected = await all(await opened(fresh), filter)
      expect(await all(index, filter)).toEqual(expected)
      expect(await all(await opened(), filter)).toEqual(expected)
    }
    await rm(join(run, 'rollouts'), { recursive: true })
    await mkdir(join(run, 'rollouts'))
    await opened()
    expect(await segments()).toEqual([])
  })
  it('reads the rollouts where a segment is damaged', async () => {
    const first = await all(await opened())
    const [name = ''] = await segments()
    const path = join(run, indexFolder, name)
    const bytes = await readFile(path)
    await writeFile(path, bytes.subarray(0, bytes.length - 1))
    expect(await all(await opened())).toEqual(first)
    await writeFile(path, 'no segment')
    expect(await all(await opened())).toEqual(first)
  })
  it('leaves a run alone that it cannot write to', async () => {
    const first = await all(await opened(), { text: 'drift' })
    await rm(join(run, indexFolder), { recursive: true })
    // Not even root can make a folder where a file is.
    await writeFile(join(run, indexFolder), '')
    await chmod(run, 0o555)
    const index = await opened()
    expect(await all(index, { text: 'drift' })).toEqual(first)
    expect((await stat(join(run, indexFolder))).isFile()).toBe(true)
    await chmod(run, 0o755)
  })
  it('counts lines that cannot be read, and waits for the end of the last one', async () => {
    const path = join(run, 'rollouts', 'step-000069.jsonl')
    const text = await readFile(path, 'utf8')
    await writeFile(path, `{"attempt":1}\n${text.trimEnd()}`)
    const index = await opened()
    expect(index.progress()).toMatchObject({ rollouts: 698, unreadable: 1 })
    await writeFile(path, `{"attempt":1}\n${text}`)
    await index.complete()
    expect(index.progress()).toMatchObject({ rollouts: 700, unreadable: 1 })
  })
})
