import { payments } from '../apps/payments.ts'
import { call, changed, created, defineTask, idOf, removed } from './template.ts'
import type { Solution } from './template.ts'

export const paymentTasks = [
  defineTask({
    id: 'payments.history',
    apps: ['payments'],
    draw: (d) => ({ person: d.person(), amount: d.amount() }),
    texts: ['How much did I pay {person}?', 'Look up my payments to {person}.'],
    setup: (w, p) => void w.state(payments).payments.seed({ to: p.person, amount: p.amount }),
    solve: function* (p): Solution {
      yield [call('payments.history', { person: p.person })]
    },
  }),
  defineTask({
    id: 'payments.owed',
    apps: ['payments'],
    draw: (d) => ({ person: d.person(), amount: d.amount() }),
    texts: ['Check what I owe {person}.', 'Find the open bill of {person}.'],
    setup: (w, p) => void w.state(payments).bills.seed({ from: p.person, amount: p.amount, paid: false }),
    solve: function* (p): Solution {
      yield [call('payments.bill', { person: p.person })]
    },
  }),
  defineTask({
    id: 'payments.pay',
    apps: ['payments'],
    draw: (d) => ({ person: d.person(), amount: d.amount() }),
    texts: ['Pay {person} {amount}.', 'Send {amount} to {person}.'],
    setup: () => undefined,
    solve: function* (p): Solution {
      yield [call('payments.pay', { person: p.person, amount: p.amount })]
    },
    goals: (p) => [created('payments.payments', { to: p.person, amount: p.amount })],
  }),
  defineTask({
    id: 'payments.settle_bill',
    apps: ['payments'],
    draw: (d) => ({ person: d.person(), amount: d.amount() }),
    texts: ['Pay the bill of {person}.', 'Settle what {person} billed me.'],
    setup: (w, p) => void w.state(payments).bills.seed({ from: p.person, amount: p.amount, paid: false }),
    solve: function* (p): Solution {
      const found = yield [call('payments.bill', { person: p.person })]
      yield [call('payments.settle_bill', { id: idOf(found) })]
    },
    goals: (p) => [changed('payments.bills', { from: p.person, paid: false }, { paid: true })],
  }),
  defineTask({
    id: 'payments.request',
    apps: ['payments'],
    draw: (d) => ({ person: d.person(), amount: d.amount() }),
    texts: ['Ask {person} for {amount}.', 'Request {amount} from {person}.'],
    setup: () => undefined,
    solve: function* (p): Solution {
      yield [call('payments.request', { person: p.person, amount: p.amount })]
    },
    goals: (p) => [created('payments.requests', { from: p.person, amount: p.amount })],
  }),
  defineTask({
    id: 'payments.withdraw',
    apps: ['payments'],
    draw: (d) => ({ person: d.person(), amount: d.amount() }),
    texts: ['Withdraw my request to {person}.', 'Stop asking {person} for money.'],
    setup: (w, p) => void w.state(payments).requests.seed({ from: p.person, amount: p.amount }),
    solve: function* (p): Solution {
      const found = yield [call('payments.requests', { person: p.person })]
      yield [call('payments.withdraw', { id: idOf(found) })]
    },
    goals: (p) => [removed('payments.requests', { from: p.person })],
  }),
  defineTask({
    id: 'payments.block',
    apps: ['payments'],
    draw: (d) => ({ person: d.person() }),
    texts: ['Block {person} in payments.', 'Make sure no money can go to {person}.'],
    setup: () => undefined,
    solve: function* (p): Solution {
      yield [call('payments.block', { person: p.person })]
    },
    goals: (p) => [created('payments.blocked', { person: p.person })],
  }),
  defineTask({
    id: 'payments.unblock',
    apps: ['payments'],
    draw: (d) => ({ person: d.person(), amount: d.amount() }),
    texts: ['Unblock {person} and pay {amount}.', 'Lift the block on {person}, then send {amount}.'],
    setup: (w, p) => void w.state(payments).blocked.seed({ person: p.person }, p.person),
    solve: function* (p): Solution {
      yield [call('payments.unblock', { person: p.person })]
      yield [call('payments.pay', { person: p.person, amount: p.amount })]
    },
    goals: (p) => [
      removed('payments.blocked', { person: p.person }),
      created('payments.payments', { to: p.person, amount: p.amount }),
    ],
  }),
]
