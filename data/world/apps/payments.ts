import {
  conflict,
  defineApp,
  endpointsOf,
  forbidden,
  notFound,
  pageOf,
  results,
  undoneByNewId,
  undoneBySame,
} from '../app.ts'
import type { Opening } from '../app.ts'
import { Collection } from '../journal.ts'

export type Payment = { readonly to: string; readonly amount: number }
export type Request = { readonly from: string; readonly amount: number }
export type Bill = { readonly from: string; readonly amount: number; readonly paid: boolean }
export type Blocked = { readonly person: string }

export interface PaymentsState {
  readonly payments: Collection<Payment>
  readonly requests: Collection<Request>
  readonly bills: Collection<Bill>
  readonly blocked: Collection<Blocked>
}

const open = ({ journal, rng, draw }: Opening): PaymentsState => {
  const state: PaymentsState = {
    payments: new Collection<Payment>('payments.payments', journal, 'p', rng.int(10, 70)),
    requests: new Collection<Request>('payments.requests', journal, 'r', rng.int(10, 70)),
    bills: new Collection<Bill>('payments.bills', journal, 'b', rng.int(10, 70)),
    blocked: new Collection<Blocked>('payments.blocked', journal, 'k', 1),
  }
  const count = rng.int(1, 4)
  for (let i = 0; i < count; i++) {
    state.payments.seed({ to: draw.person(), amount: draw.amount() })
    if (rng.chance(0.5)) state.bills.seed({ from: draw.person(), amount: draw.amount(), paid: false })
  }
  return state
}

const { read, write } = endpointsOf<PaymentsState>()

/** Money sent, asked for and owed. */
export const payments = defineApp<PaymentsState>('payments', open, {
  list: read({
    does: 'lists open bills',
    params: { page: 'page' },
    run: (s, a) =>
      pageOf(
        s.bills.where((b) => !b.paid).map(([id, b]) => `${id} from ${b.from}`),
        a.page,
      ),
  }),
  history: read({
    does: 'lists payments to a person',
    params: { person: 'text' },
    run: (s, a) => results(s.payments.where((p) => p.to === a.person).map(([id, p]) => `${id} ${p.amount} to ${p.to}`)),
  }),
  bill: read({
    does: 'finds open bills of a person',
    params: { person: 'text' },
    run: (s, a) =>
      results(
        s.bills.where((b) => b.from === a.person && !b.paid).map(([id, b]) => `${id} ${b.amount} from ${b.from}`),
      ),
  }),
  requests: read({
    does: 'lists money asked from a person',
    params: { person: 'text' },
    run: (s, a) =>
      results(s.requests.where((r) => r.from === a.person).map(([id, r]) => `${id} ${r.amount} from ${r.from}`)),
  }),
  pay: write({
    does: 'sends money',
    params: { person: 'person', amount: 'amount' },
    run: (s, a) => {
      if (s.blocked.get(a.person) !== undefined) return forbidden('person is blocked')
      s.payments.add({ to: a.person, amount: a.amount })
      return `paid ${a.amount} to ${a.person}`
    },
  }),
  settle_bill: write({
    does: 'pays a bill',
    params: { id: 'id' },
    run: (s, a) => {
      const bill = s.bills.get(a.id)
      if (bill === undefined) return notFound
      if (bill.paid) return conflict('already paid')
      s.bills.put(a.id, { ...bill, paid: true })
      return `paid bill ${a.id} of ${bill.from}`
    },
  }),
  request: write({
    does: 'asks a person for money',
    params: { person: 'person', amount: 'amount' },
    run: (s, a) => `request ${s.requests.add({ from: a.person, amount: a.amount })} to ${a.person}`,
    undo: undoneByNewId('withdraw'),
  }),
  withdraw: write({
    does: 'drops a request for good',
    params: { id: 'id' },
    run: (s, a) => {
      const request = s.requests.get(a.id)
      if (request === undefined) return notFound
      s.requests.remove(a.id)
      return `withdrew ${a.id} to ${request.from}`
    },
  }),
  block: write({
    does: 'blocks a person',
    params: { person: 'person' },
    run: (s, a) => {
      if (s.blocked.get(a.person) !== undefined) return conflict('already blocked')
      s.blocked.add({ person: a.person }, a.person)
      return `blocked ${a.person}`
    },
    undo: undoneBySame('unblock'),
  }),
  unblock: write({
    does: 'lifts a block',
    params: { person: 'person' },
    run: (s, a) => {
      if (s.blocked.get(a.person) === undefined) return conflict('not blocked')
      s.blocked.remove(a.person)
      return `unblocked ${a.person}`
    },
    undo: undoneBySame('block'),
  }),
})
