import { mail } from '../apps/mail.ts'
import { payments } from '../apps/payments.ts'
import { seedEvent } from './calendar.ts'
import { seedChannel } from './chat.ts'
import { seedFile } from './files.ts'
import { seedNote } from './notes.ts'
import { seedItem } from './shop.ts'
import { seedGroup } from './splits.ts'
import { call, changed, created, defineTask, idOf } from './template.ts'
import type { Solution } from './template.ts'

/** Tasks that need two apps. */
export const multiTasks = [
  defineTask({
    id: 'multi.event_and_mail',
    apps: ['calendar', 'mail'],
    draw: (d) => ({ event: d.event(), day: d.day(), person: d.person() }),
    texts: ['Plan {event} for {day} and mail {person} about it.'],
    setup: () => undefined,
    solve: function* (p): Solution {
      yield [call('calendar.create', { title: p.event, day: p.day })]
      yield [call('mail.send', { to: p.person, text: p.event })]
    },
    goals: (p) => [
      created('calendar.events', { title: p.event, day: p.day }),
      created('mail.sent', { to: p.person, text: p.event }),
    ],
  }),
  defineTask({
    id: 'multi.bill_and_note',
    apps: ['payments', 'notes'],
    draw: (d) => ({ person: d.person(), amount: d.amount(), topic: d.topic() }),
    texts: ['Pay the bill of {person} and note it under {topic}.'],
    setup: (w, p) => void w.state(payments).bills.seed({ from: p.person, amount: p.amount, paid: false }),
    solve: function* (p): Solution {
      const found = yield [call('payments.bill', { person: p.person })]
      yield [
        call('payments.settle_bill', { id: idOf(found) }),
        call('notes.create', { title: p.topic, text: `paid ${p.person}` }),
      ]
    },
    goals: (p) => [
      changed('payments.bills', { from: p.person, paid: false }, { paid: true }),
      created('notes.notes', { title: p.topic, text: `paid ${p.person}` }),
    ],
  }),
  defineTask({
    id: 'multi.pay_and_split',
    apps: ['payments', 'splits'],
    draw: (d) => ({ person: d.person(), amount: d.amount(), group: d.group(), topic: d.topic() }),
    texts: ['Pay {person} {amount} for {topic} and book it in {group}.'],
    setup: (w, p) => seedGroup(w, p.group),
    solve: function* (p): Solution {
      yield [call('payments.pay', { person: p.person, amount: p.amount })]
      yield [call('splits.add', { group: p.group, title: p.topic, amount: p.amount })]
    },
    goals: (p) => [
      created('payments.payments', { to: p.person, amount: p.amount }),
      created('splits.expenses', { group: p.group, title: p.topic, amount: p.amount }),
    ],
  }),
  defineTask({
    id: 'multi.file_and_chat',
    apps: ['files', 'chat'],
    draw: (d) => ({ file: d.file(), person: d.person(), channel: d.channel() }),
    texts: ['Share {file} with {person} and post it in {channel}.'],
    setup: (w, p) => {
      seedFile(w, p.file)
      seedChannel(w, p.channel)
    },
    solve: function* (p): Solution {
      const found = yield [call('files.find', { name: p.file })]
      yield [
        call('files.share', { id: idOf(found), person: p.person }),
        call('chat.post', { channel: p.channel, text: p.file }),
      ]
    },
    goals: (p) => [
      created('files.shares', { person: p.person }),
      created('chat.posts', { channel: p.channel, text: p.file }),
    ],
  }),
  defineTask({
    id: 'multi.read_and_tell',
    apps: ['notes', 'chat'],
    draw: (d) => ({ topic: d.topic(), text: d.event(), person: d.person() }),
    texts: ['Open the note {topic} and message {person} about it.'],
    setup: (w, p) => void seedNote(w, p.topic, p.text),
    solve: function* (p): Solution {
      const found = yield [call('notes.search', { title: p.topic })]
      yield [call('notes.open', { id: idOf(found) })]
      yield [call('chat.dm', { person: p.person, text: p.text })]
    },
    goals: (p) => [created('chat.directs', { to: p.person, text: p.text })],
  }),
  defineTask({
    id: 'multi.mail_to_event',
    apps: ['mail', 'calendar'],
    draw: (d) => ({ person: d.person(), topic: d.topic(), event: d.event() }),
    texts: ['Read the mail from {person} and invite them to {event}.'],
    setup: (w, p) => {
      w.state(mail).mails.seed({ from: p.person, subject: p.topic, folder: 'inbox', starred: false })
      seedEvent(w, p.event)
    },
    solve: function* (p): Solution {
      const found = yield [call('mail.search', { from: p.person }), call('calendar.find', { title: p.event })]
      yield [call('mail.open', { id: idOf(found) })]
      yield [call('calendar.invite', { id: idOf(found, 1), person: p.person })]
    },
    goals: (p) => [created('calendar.guests', { person: p.person })],
  }),
  defineTask({
    id: 'multi.buy_and_ask',
    apps: ['shop', 'payments'],
    draw: (d) => ({ item: d.item(), amount: d.amount(), person: d.person() }),
    texts: ['Order the {item} and ask {person} for {amount}.'],
    setup: (w, p) => seedItem(w, p.item),
    solve: function* (p): Solution {
      yield [call('shop.search', { item: p.item })]
      yield [call('shop.order', { item: p.item })]
      yield [call('payments.request', { person: p.person, amount: p.amount })]
    },
    goals: (p) => [
      created('shop.orders', { item: p.item }),
      created('payments.requests', { from: p.person, amount: p.amount }),
    ],
  }),
  defineTask({
    id: 'multi.two_looks',
    apps: ['shop', 'notes'],
    draw: (d) => ({ item: d.item(), topic: d.topic(), text: d.event() }),
    texts: ['Look up the {item} and read my note {topic}.'],
    setup: (w, p) => {
      seedItem(w, p.item)
      seedNote(w, p.topic, p.text)
    },
    solve: function* (p): Solution {
      const found = yield [call('shop.search', { item: p.item }), call('notes.search', { title: p.topic })]
      yield [call('notes.open', { id: idOf(found, 1) })]
    },
  }),
  defineTask({
    id: 'multi.who_and_when',
    apps: ['splits', 'calendar'],
    draw: (d) => ({ group: d.group(), person: d.person(), event: d.event() }),
    texts: ['Check who is in {group} and when {event} is.'],
    setup: (w, p) => {
      seedGroup(w, p.group, [p.person])
      seedEvent(w, p.event)
    },
    solve: function* (p): Solution {
      yield [call('splits.members', { group: p.group })]
      yield [call('calendar.find', { title: p.event })]
    },
  }),
  defineTask({
    id: 'multi.clean_up',
    apps: ['chat', 'files'],
    draw: (d) => ({ channel: d.channel(), file: d.file() }),
    texts: ['Mute {channel} and put {file} in the bin.'],
    setup: (w, p) => {
      seedChannel(w, p.channel)
      seedFile(w, p.file)
    },
    solve: function* (p): Solution {
      const found = yield [call('chat.mute', { channel: p.channel }), call('files.find', { name: p.file })]
      yield [call('files.trash', { id: idOf(found, 1) })]
    },
    goals: (p) => [
      changed('chat.channels', { muted: false }, { muted: true }),
      changed('files.files', { name: p.file, trashed: false }, { trashed: true }),
    ],
  }),
]
