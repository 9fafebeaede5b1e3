import { conflict, defineApp, endpointsOf, notFound, pageOf, results, undoneByNewId, undoneBySame } from '../app.ts'
import type { Opening } from '../app.ts'
import { Collection } from '../journal.ts'

export type Group = { readonly settled: boolean }
export type Member = { readonly group: string; readonly person: string }
export type Expense = { readonly group: string; readonly title: string; readonly amount: number }

export interface SplitsState {
  readonly groups: Collection<Group>
  readonly members: Collection<Member>
  readonly expenses: Collection<Expense>
}

export const memberKey = (group: string, person: string): string => `${group}/${person}`

const open = ({ journal, rng, draw }: Opening): SplitsState => {
  const state: SplitsState = {
    groups: new Collection<Group>('splits.groups', journal, 'q', 1),
    members: new Collection<Member>('splits.members', journal, 'w', 1),
    expenses: new Collection<Expense>('splits.expenses', journal, 'x', rng.int(10, 70)),
  }
  const count = rng.int(2, 4)
  for (let i = 0; i < count; i++) {
    const group = state.groups.seed({ settled: false }, draw.group())
    state.expenses.seed({ group, title: draw.topic(), amount: draw.amount() })
  }
  return state
}

const { read, write } = endpointsOf<SplitsState>()

/** Groups that share expenses. */
export const splits = defineApp<SplitsState>('splits', open, {
  list: read({
    does: 'lists the groups',
    params: { page: 'page' },
    run: (s, a) =>
      pageOf(
        s.groups.entries().map(([name]) => name),
        a.page,
      ),
  }),
  expenses: read({
    does: 'lists expenses of a group',
    params: { group: 'text' },
    run: (s, a) => {
      if (s.groups.get(a.group) === undefined) return notFound
      return results(s.expenses.where((x) => x.group === a.group).map(([id, x]) => `${id} ${x.title} ${x.amount}`))
    },
  }),
  members: read({
    does: 'lists members of a group',
    params: { group: 'text' },
    run: (s, a) => {
      if (s.groups.get(a.group) === undefined) return notFound
      return results(s.members.where((m) => m.group === a.group).map(([, m]) => m.person))
    },
  }),
  create: write({
    does: 'makes an empty group',
    params: { group: 'text' },
    run: (s, a) => {
      if (s.groups.get(a.group) !== undefined) return conflict('group exists')
      s.groups.add({ settled: false }, a.group)
      return `created group ${a.group}`
    },
    undo: undoneBySame('drop'),
  }),
  drop: write({
    does: 'removes a group with all it holds',
    params: { group: 'text' },
    run: (s, a) => {
      if (s.groups.get(a.group) === undefined) return notFound
      for (const [id] of s.expenses.where((x) => x.group === a.group)) s.expenses.remove(id)
      for (const [id] of s.members.where((m) => m.group === a.group)) s.members.remove(id)
      s.groups.remove(a.group)
      return `dropped group ${a.group}`
    },
  }),
  add: write({
    does: 'books an expense',
    params: { group: 'text', title: 'text', amount: 'amount' },
    run: (s, a) => {
      if (s.groups.get(a.group) === undefined) return notFound
      return `added ${s.expenses.add({ group: a.group, title: a.title, amount: a.amount })} to ${a.group}`
    },
    undo: undoneByNewId('remove'),
  }),
  remove: write({
    does: 'deletes an expense for good',
    params: { id: 'id' },
    run: (s, a) => {
      const expense = s.expenses.get(a.id)
      if (expense === undefined) return notFound
      s.expenses.remove(a.id)
      return `removed ${expense.title} from ${expense.group}`
    },
  }),
  join: write({
    does: 'adds a member',
    params: { group: 'text', person: 'person' },
    run: (s, a) => {
      if (s.groups.get(a.group) === undefined) return notFound
      const key = memberKey(a.group, a.person)
      if (s.members.get(key) !== undefined) return conflict('already a member')
      s.members.add({ group: a.group, person: a.person }, key)
      return `${a.person} joined ${a.group}`
    },
    undo: undoneBySame('part'),
  }),
  part: write({
    does: 'takes a member out',
    params: { group: 'text', person: 'person' },
    run: (s, a) => {
      const key = memberKey(a.group, a.person)
      if (s.members.get(key) === undefined) return notFound
      s.members.remove(key)
      return `${a.person} left ${a.group}`
    },
    undo: undoneBySame('join'),
  }),
  settle: write({
    does: 'closes the accounts of a group',
    params: { group: 'text' },
    run: (s, a) => {
      const group = s.groups.get(a.group)
      if (group === undefined) return notFound
      if (group.settled) return conflict('already settled')
      s.groups.put(a.group, { settled: true })
      return `settled ${a.group}`
    },
  }),
})
