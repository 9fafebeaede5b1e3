import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Call } from '../../../data/records/operation.ts'
import { EndpointDoc } from '../../../data/records/trajectory.ts'
import { appNames, undoneByPhrase } from '../../../data/world/app.ts'
import { apps } from '../../../data/world/apps/all.ts'
import { mail } from '../../../data/world/apps/mail.ts'
import { Rng } from '../../../data/world/random.ts'
import { taskTemplates } from '../../../data/world/tasks/all.ts'
import { Draw } from '../../../data/world/values/draw.ts'
import { World } from '../../../data/world/world.ts'
import { solve, worldWith } from './play.ts'

const newWorld = (seed = 1): World => {
  const rng = Rng.of(seed)
  return new World(rng.fork('world'), new Draw(rng.fork('values'), 'train'))
}
const docs = apps.flatMap((app) => [...app.docs])
const templateIndex = fc.integer({ min: 0, max: taskTemplates.length - 1 })
const templateAt = (index: number) => {
  const template = taskTemplates[index]
  if (template === undefined) throw new Error('no such template')
  return template
}

const undoOf = (call: Call) => apps.find((app) => app.name === call.app)?.endpoints.get(call.endpoint)?.undo ?? null

describe('World', () => {
  it('has nine apps, each with reads and writes', () => {
    expect(apps.map((app) => app.name)).toEqual(appNames)
    for (const app of apps) {
      const kinds = app.docs.map((doc) => doc.kind)
      expect(kinds.filter((kind) => kind === 'read').length).toBeGreaterThanOrEqual(2)
      expect(kinds.filter((kind) => kind === 'write').length).toBeGreaterThanOrEqual(5)
    }
  })

  it('is the same for the same seed, in whatever order apps are touched', () => {
    const pages = (world: World, names: readonly string[]) =>
      Object.fromEntries(
        names.map((app) => [app, world.execute({ app, endpoint: 'list', args: { page: 1 } }).observation]),
      )
    expect(pages(newWorld(5), appNames)).toEqual(pages(newWorld(5), appNames))
    expect(pages(newWorld(5), appNames)).not.toEqual(pages(newWorld(6), appNames))
  })

  it('finds again what was created, and not after it was removed', () => {
    const world = newWorld()
    const made = world.execute({ app: 'notes', endpoint: 'create', args: { title: 'lease', text: 'lunch' } })
    expect(made).toMatchObject({ ok: true, kind: 'write', stateChanged: true })
    const id = /n\d+/.exec(made.observation)?.[0] ?? ''
    const found = () => world.execute({ app: 'notes', endpoint: 'search', args: { title: 'lease' } }).observation
    expect(found()).toBe(`1 result: ${id} lease`)
    expect(world.execute({ app: 'notes', endpoint: 'open', args: { id } }).observation).toBe('lease: lunch')
    world.execute({ app: 'notes', endpoint: 'delete', args: { id } })
    expect(found()).toBe('no results')
    expect(world.diff()).toEqual([])
  })

  it.each<[string, Call, string]>([
    ['an unknown app', { app: 'bank', endpoint: 'pay', args: {} }, 'error 404: no such endpoint'],
    ['an unknown endpoint', { app: 'mail', endpoint: 'burn', args: {} }, 'error 404: no such endpoint'],
    ['a missing argument', { app: 'mail', endpoint: 'archive', args: {} }, 'error 400: id missing'],
    [
      'a wrong type',
      { app: 'payments', endpoint: 'pay', args: { person: 'ana', amount: 'ten' } },
      'error 400: bad amount',
    ],
    [
      'an extra argument',
      { app: 'mail', endpoint: 'archive', args: { id: 'm1', now: true } },
      'error 400: unknown now',
    ],
    [
      'an unknown person',
      { app: 'mail', endpoint: 'send', args: { to: 'annna', text: 'x' } },
      'error 404: no such person',
    ],
    ['an unknown record', { app: 'mail', endpoint: 'archive', args: { id: 'm999' } }, 'error 404: not found'],
    ['an inherited name', { app: 'mail', endpoint: 'toString', args: {} }, 'error 404: no such endpoint'],
  ])('refuses %s and changes nothing', (_what, call, observation) => {
    const world = newWorld()
    expect(world.execute(call)).toMatchObject({ ok: false, observation, stateChanged: false })
    expect(world.diff()).toEqual([])
  })

  it('lets one call meet a fault, and the next one through', () => {
    const world = newWorld()
    const call: Call = { app: 'chat', endpoint: 'dm', args: { person: 'ana', text: 'lease' } }
    world.failNext({ code: 500, reason: 'server busy' })
    expect(world.execute(call)).toMatchObject({ ok: false, observation: 'error 500: server busy', stateChanged: false })
    expect(world.diff()).toEqual([])
    expect(world.execute(call)).toMatchObject({ ok: true, stateChanged: true })
  })

  it('refuses what the rules of an app forbid', () => {
    const world = newWorld()
    world.execute({ app: 'payments', endpoint: 'block', args: { person: 'ana' } })
    const pay = world.execute({ app: 'payments', endpoint: 'pay', args: { person: 'ana', amount: 5 } })
    expect(pay.observation).toBe('error 403: person is blocked')
  })

  it('shows pages of three', () => {
    const world = newWorld()
    const { mails } = world.state(mail)
    while (mails.entries().length < 7) mails.seed({ from: 'gus', subject: 'x', folder: 'inbox', starred: false })
    const page = (number: number) =>
      world.execute({ app: 'mail', endpoint: 'list', args: { page: number } }).observation
    expect(page(1)).toMatch(/^page 1 of 3: m\d+ from \w+, m\d+ from \w+, m\d+ from \w+$/)
    expect(page(3)).toMatch(/^page 3 of 3: m\d+ from gus$/)
    expect(page(4)).toBe('error 404: no such page')
  })

  it('restores in the middle of any task', () => {
    fc.assert(
      fc.property(templateIndex, fc.nat(500), fc.nat(5), (index, seed, cut) => {
        const { world, task } = worldWith(templateAt(index), seed)
        let made = 0
        let mark = world.snapshot()
        let before = world.diff()
        solve(world, task, (_call, run) => {
          if (made++ === cut) {
            mark = world.snapshot()
            before = world.diff()
          }
          run()
        })
        world.restore(mark)
        expect(world.diff()).toEqual(before)
        world.restore(0)
        expect(world.diff()).toEqual([])
      }),
    )
  })

  it('undoes every reversible write exactly, by its documented inverse with values that are visible', () => {
    fc.assert(
      fc.property(templateIndex, fc.nat(500), (index, seed) => {
        const { world, task } = worldWith(templateAt(index), seed)
        solve(world, task, (call, run) => {
          const before = world.diff()
          const mark = world.snapshot()
          const { observation } = run()
          const undo = undoOf(call)
          if (undo === null) return
          const inverse: Call = { app: call.app, endpoint: undo.by, args: undo.args(call.args, observation) }
          const visible = new Set([...Object.values(call.args).map(String), ...observation.split(' ')])
          const outcome = world.execute(inverse)
          const after = world.diff()
          world.restore(mark)
          world.execute(call)
          expect(Object.values(inverse.args).filter((value) => !visible.has(String(value)))).toEqual([])
          expect(outcome).toMatchObject({ ok: true, stateChanged: true })
          expect(after).toEqual(before)
        })
      }),
    )
  })

  it('reaches every write endpoint by some task, so that the inverse of each is tried', () => {
    const used = new Set<string>()
    for (const template of taskTemplates) {
      const { world, task } = worldWith(template, 1)
      solve(world, task, (call, run) => {
        used.add(`${call.app}.${call.endpoint}`)
        run()
      })
    }
    const writes = docs.filter((doc) => doc.kind === 'write').map((doc) => `${doc.app}.${doc.endpoint}`)
    expect(writes.filter((name) => !used.has(name))).toEqual([])
  })
})

describe('documentation', () => {
  it('is valid and names its call first', () => {
    const names = new Set(docs.map((doc) => `${doc.app}.${doc.endpoint}`))
    expect(names.size).toBe(docs.length)
    for (const doc of docs) {
      expect(EndpointDoc.parse(doc)).toEqual(doc)
      expect(doc.summary.startsWith(`${doc.app}.${doc.endpoint}(${doc.params.join(', ')}): `)).toBe(true)
      expect(doc.summary).not.toContain('\n')
      expect(doc.params.length).toBeLessThanOrEqual(3)
    }
  })

  it('names an existing inverse at the end of a summary, or none', () => {
    for (const doc of docs) {
      const inverse = doc.summary.split(undoneByPhrase)[1]?.split('(')[0] ?? null
      expect(inverse).toBe(doc.undoneBy)
      expect(docs.some((other) => `${other.app}.${other.endpoint}` === inverse)).toBe(inverse !== null)
    }
  })

  it('has about as many writes that can be undone as writes that cannot', () => {
    const writes = docs.filter((doc) => doc.kind === 'write')
    const share = writes.filter((doc) => doc.undoneBy !== null).length / writes.length
    expect(share).toBeGreaterThan(0.4)
    expect(share).toBeLessThan(0.65)
    expect(docs.filter((doc) => doc.kind === 'read' && doc.undoneBy !== null)).toEqual([])
  })

  it('gives the docs of the asked apps only', () => {
    expect(
      new Set(
        newWorld()
          .docs(['mail', 'shop'])
          .map((doc) => doc.app),
      ),
    ).toEqual(new Set(['mail', 'shop']))
    expect(newWorld().docs()).toHaveLength(docs.length)
  })
})
