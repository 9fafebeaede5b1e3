import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Collection, Journal } from '../../../data/world/journal.ts'

type Thing = { readonly value: number }

const action = fc.oneof(
  fc.record({ do: fc.constant('add' as const), value: fc.nat(3) }),
  fc.record({ do: fc.constant('put' as const), at: fc.nat(5), value: fc.nat(3) }),
  fc.record({ do: fc.constant('remove' as const), at: fc.nat(5) }),
)
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never

const build = () => {
  const journal = new Journal()
  const things = new Collection<Thing>('things', journal, 't', 3)
  for (let value = 0; value < 3; value++) things.seed({ value })
  return { journal, things }
}

const act = (things: Collection<Thing>, todo: Action): void => {
  const id = 'at' in todo ? things.entries()[todo.at]?.[0] : undefined
  if (todo.do === 'add') things.add({ value: todo.value })
  else if (id !== undefined && todo.do === 'put') things.put(id, { value: todo.value })
  else if (id !== undefined) things.remove(id)
}

const asRecord = (things: Collection<Thing>) => Object.fromEntries(things.entries())

describe('Journal', () => {
  it('restores every record and the next id, whatever was done', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 20 }), fc.array(action, { maxLength: 20 }), (before, after) => {
        const { journal, things } = build()
        for (const todo of before) act(things, todo)
        const mark = journal.length
        const state = asRecord(things)
        const nextId = things.add({ value: 9 })
        journal.revertTo(mark)
        for (const todo of after) act(things, todo)
        journal.revertTo(mark)
        expect(asRecord(things)).toEqual(state)
        expect(journal.changesSince(mark)).toEqual([])
        expect(things.add({ value: 9 })).toBe(nextId)
      }),
    )
  })

  it('tells exactly the net difference', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 30 }), (todos) => {
        const { journal, things } = build()
        const start = asRecord(things)
        for (const todo of todos) act(things, todo)
        const rebuilt: Record<string, unknown> = { ...start }
        for (const change of journal.changesSince(0)) {
          expect(change.before).toEqual(start[change.id] ?? null)
          expect(change.before).not.toEqual(change.after)
          if (change.after === null) delete rebuilt[change.id]
          else rebuilt[change.id] = change.after
        }
        expect(rebuilt).toEqual(asRecord(things))
      }),
    )
  })

  it('does not count a write of what is there', () => {
    const { journal, things } = build()
    const id = things.entries()[0]?.[0] ?? ''
    things.put(id, { value: 0 })
    expect(journal.length).toBe(0)
  })

  it('refuses a snapshot that is no longer there', () => {
    const { journal, things } = build()
    things.add({ value: 1 })
    const mark = journal.length
    journal.revertTo(0)
    expect(() => journal.revertTo(mark)).toThrow('no such snapshot')
  })
})
