import { memberKey, splits } from '../apps/splits.ts'
import type { World } from '../world.ts'
import { call, changed, created, defineTask, idOf, removed } from './template.ts'
import type { Solution } from './template.ts'

/** Seeds a group with members. */
export const seedGroup = (world: World, group: string, people: readonly string[] = []): void => {
  const state = world.state(splits)
  state.groups.seed({ settled: false }, group)
  for (const person of people) state.members.seed({ group, person }, memberKey(group, person))
}

const seedExpense = (world: World, group: string, title: string, amount: number): void => {
  seedGroup(world, group)
  world.state(splits).expenses.seed({ group, title, amount })
}

export const splitTasks = [
  defineTask({
    id: 'splits.expenses',
    apps: ['splits'],
    draw: (d) => ({ group: d.group(), topic: d.topic(), amount: d.amount() }),
    texts: ['What did the {group} group spend?', 'Show me the expenses of {group}.'],
    setup: (w, p) => seedExpense(w, p.group, p.topic, p.amount),
    solve: function* (p): Solution {
      yield [call('splits.expenses', { group: p.group })]
    },
  }),
  defineTask({
    id: 'splits.members',
    apps: ['splits'],
    draw: (d) => ({ group: d.group(), person: d.person() }),
    texts: ['Who is in the {group} group?', 'List the members of {group}.'],
    setup: (w, p) => seedGroup(w, p.group, [p.person]),
    solve: function* (p): Solution {
      yield [call('splits.members', { group: p.group })]
    },
  }),
  defineTask({
    id: 'splits.create',
    apps: ['splits'],
    draw: (d) => ({ group: d.group(), person: d.person() }),
    texts: ['Make a split group {group} with {person}.', 'Start sharing costs of {group} with {person}.'],
    setup: () => undefined,
    solve: function* (p): Solution {
      yield [call('splits.create', { group: p.group })]
      yield [call('splits.join', { group: p.group, person: p.person })]
    },
    goals: (p) => [
      created('splits.groups', { settled: false }),
      created('splits.members', { group: p.group, person: p.person }),
    ],
  }),
  defineTask({
    id: 'splits.drop',
    apps: ['splits'],
    draw: (d) => ({ group: d.group() }),
    texts: ['Drop the split group {group}.', 'Remove the {group} group with all it holds.'],
    setup: (w, p) => seedGroup(w, p.group),
    solve: function* (p): Solution {
      yield [call('splits.members', { group: p.group })]
      yield [call('splits.drop', { group: p.group })]
    },
    goals: () => [removed('splits.groups', { settled: false })],
  }),
  defineTask({
    id: 'splits.add',
    apps: ['splits'],
    draw: (d) => ({ group: d.group(), topic: d.topic(), amount: d.amount() }),
    texts: ['Book {amount} for {topic} in {group}.', 'Add {topic} of {amount} to the {group} group.'],
    setup: (w, p) => seedGroup(w, p.group),
    solve: function* (p): Solution {
      yield [call('splits.add', { group: p.group, title: p.topic, amount: p.amount })]
    },
    goals: (p) => [created('splits.expenses', { group: p.group, title: p.topic, amount: p.amount })],
  }),
  defineTask({
    id: 'splits.remove',
    apps: ['splits'],
    draw: (d) => ({ group: d.group(), topic: d.topic(), amount: d.amount() }),
    texts: ['Remove {topic} from the {group} group.', 'Delete the expense {topic} in {group}.'],
    setup: (w, p) => seedExpense(w, p.group, p.topic, p.amount),
    solve: function* (p): Solution {
      const found = yield [call('splits.expenses', { group: p.group })]
      yield [call('splits.remove', { id: idOf(found) })]
    },
    goals: (p) => [removed('splits.expenses', { group: p.group, title: p.topic })],
  }),
  defineTask({
    id: 'splits.join',
    apps: ['splits'],
    draw: (d) => ({ group: d.group(), person: d.person() }),
    texts: ['Add {person} to the {group} group.', 'Let {person} join {group}.'],
    setup: (w, p) => seedGroup(w, p.group),
    solve: function* (p): Solution {
      yield [call('splits.join', { group: p.group, person: p.person })]
    },
    goals: (p) => [created('splits.members', { group: p.group, person: p.person })],
  }),
  defineTask({
    id: 'splits.part',
    apps: ['splits'],
    draw: (d) => ({ group: d.group(), person: d.person() }),
    texts: ['Take {person} out of the {group} group.', 'Remove {person} from {group}.'],
    setup: (w, p) => seedGroup(w, p.group, [p.person]),
    solve: function* (p): Solution {
      yield [call('splits.members', { group: p.group })]
      yield [call('splits.part', { group: p.group, person: p.person })]
    },
    goals: (p) => [removed('splits.members', { group: p.group, person: p.person })],
  }),
  defineTask({
    id: 'splits.settle',
    apps: ['splits'],
    draw: (d) => ({ group: d.group(), topic: d.topic(), amount: d.amount() }),
    texts: ['Settle the {group} group.', 'Close the accounts of {group}.'],
    setup: (w, p) => seedExpense(w, p.group, p.topic, p.amount),
    solve: function* (p): Solution {
      yield [call('splits.expenses', { group: p.group })]
      yield [call('splits.settle', { group: p.group })]
    },
    goals: () => [changed('splits.groups', { settled: false }, { settled: true })],
  }),
]
