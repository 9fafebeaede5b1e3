import { describe, expect, it } from 'vitest'
import { appNames } from '../../../data/world/app.ts'
import { notes } from '../../../data/world/apps/notes.ts'
import { Rng } from '../../../data/world/random.ts'
import { taskTemplates } from '../../../data/world/tasks/all.ts'
import { changed, checkGoals, created } from '../../../data/world/tasks/template.ts'
import { isReserved, weekdays } from '../../../data/world/values/lists.ts'
import { solve, worldWith } from './play.ts'

const seeds = [1, 2, 3, 4, 5]
const days = new Set<string>(weekdays)

describe.each(taskTemplates.map((template) => [template.id, template] as const))('task %s', (_id, template) => {
  it('is solved by its scripted solution, in both splits, with every call a success', () => {
    for (const seed of seeds) {
      for (const split of ['train', 'heldout'] as const) {
        const { world, task } = worldWith(template, seed, split)
        solve(world, task, (call, run) => {
          expect(task.apps).toContain(call.app)
          expect(run().ok).toBe(true)
        })
        expect(checkGoals(world.diff(), task.goals)).toEqual({ passed: true, unmet: [], stray: [] })
        expect(world.diff().length > 0).toBe(template.kind === 'write')
      }
    }
  })

  it('is not passed by doing nothing, or by doing more', () => {
    const { world, task } = worldWith(template, 7)
    expect(checkGoals(world.diff(), task.goals).passed).toBe(template.kind === 'read')
    solve(world, task)
    world.execute({ app: 'notes', endpoint: 'create', args: { title: 'other', text: 'thing' } })
    const result = checkGoals(world.diff(), task.goals)
    expect(result.passed).toBe(false)
    expect(result.stray).toHaveLength(1)
  })

  it('asks in one short sentence, with values of its own split in its id', () => {
    for (const seed of seeds) {
      const held = worldWith(template, seed, 'heldout').task
      const train = worldWith(template, seed, 'train').task
      const values = (task: typeof held) =>
        Object.values(task.params)
          .filter((value) => typeof value === 'string')
          .filter((value) => !days.has(value))
      expect(values(held).some((value) => isReserved(value))).toBe(true)
      expect(values(train).some((value) => isReserved(value))).toBe(false)
      expect(held.id).not.toBe(train.id)
      for (let i = 0; i < 4; i++) {
        const text = train.text(Rng.of(i))
        expect(text).not.toMatch(/[{}]|undefined/)
        expect(text.split(' ').length).toBeLessThanOrEqual(15)
      }
    }
  })
})

describe('task templates', () => {
  it('cover every app, reads and writes, one app and two', () => {
    expect(new Set(taskTemplates.map((template) => template.id)).size).toBe(taskTemplates.length)
    expect(taskTemplates.length).toBeGreaterThanOrEqual(40)
    for (const app of appNames) {
      const own = taskTemplates.filter((template) => template.apps.includes(app))
      expect(new Set(own.map((template) => template.kind))).toEqual(new Set(['read', 'write']))
    }
    expect(taskTemplates.filter((template) => template.apps.length > 1).length).toBeGreaterThanOrEqual(8)
  })
})

describe('checkGoals', () => {
  const row = { title: 'lease', text: 'lunch', pinned: false }

  it('does not let a goal excuse another field', () => {
    const change = { collection: 'notes.notes', id: 'n1', before: row, after: { ...row, text: 'other', pinned: true } }
    const goal = changed('notes.notes', { title: 'lease' }, { pinned: true })
    expect(checkGoals([change], [goal])).toMatchObject({ passed: false, unmet: [goal], stray: [change] })
  })

  it('wants one change for each goal', () => {
    const change = { collection: 'notes.notes', id: 'n1', before: null, after: row }
    const goal = created('notes.notes', { title: 'lease' })
    expect(checkGoals([change], [goal]).passed).toBe(true)
    expect(checkGoals([change], [goal, goal]).unmet).toHaveLength(1)
    expect(checkGoals([change, change], [goal]).stray).toHaveLength(1)
    expect(checkGoals([{ ...change, before: row, after: null }], [goal]).passed).toBe(false)
  })

  it('sees the wrong record', () => {
    const template = taskTemplates.find((one) => one.id === 'notes.pin')
    if (template === undefined) throw new Error('template gone')
    const { world, task } = worldWith(template, 3)
    const other = world.state(notes).notes.where((note) => note.title !== task.params['topic'])[0]?.[0] ?? ''
    expect(world.execute({ app: 'notes', endpoint: 'pin', args: { id: other } }).ok).toBe(true)
    expect(checkGoals(world.diff(), task.goals).passed).toBe(false)
  })
})
