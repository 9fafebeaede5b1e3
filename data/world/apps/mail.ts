import { conflict, defineApp, endpointsOf, notFound, pageOf, results, undoneBySame } from '../app.ts'
import type { Opening } from '../app.ts'
import { Collection } from '../journal.ts'

export type Mail = {
  readonly from: string
  readonly subject: string
  readonly folder: 'inbox' | 'archive'
  readonly starred: boolean
}
export type Sent = { readonly to: string; readonly text: string }

export interface MailState {
  readonly mails: Collection<Mail>
  readonly sent: Collection<Sent>
}

const open = ({ journal, rng, draw }: Opening): MailState => {
  const mails = new Collection<Mail>('mail.mails', journal, 'm', rng.int(10, 70))
  const sent = new Collection<Sent>('mail.sent', journal, 's', rng.int(10, 70))
  const count = rng.int(2, 5)
  for (let i = 0; i < count; i++) {
    mails.seed({ from: draw.person(), subject: draw.topic(), folder: 'inbox', starred: false })
  }
  return { mails, sent }
}

const { read, write } = endpointsOf<MailState>()

const move = (from: Mail['folder'], to: Mail['folder'], done: string) => (s: MailState, a: { readonly id: string }) => {
  const mail = s.mails.get(a.id)
  if (mail === undefined) return notFound
  if (mail.folder !== from) return conflict(`already ${done}`)
  s.mails.put(a.id, { ...mail, folder: to })
  return `${done} ${a.id} from ${mail.from}`
}

const setStar = (starred: boolean, done: string) => (s: MailState, a: { readonly id: string }) => {
  const mail = s.mails.get(a.id)
  if (mail === undefined) return notFound
  if (mail.starred === starred) return conflict(`already ${done}`)
  s.mails.put(a.id, { ...mail, starred })
  return `${done} ${a.id} from ${mail.from}`
}

/** Mail: an inbox, an archive and sent messages. */
export const mail = defineApp<MailState>('mail', open, {
  list: read({
    does: 'lists the inbox',
    params: { page: 'page' },
    run: (s, a) =>
      pageOf(
        s.mails.where((m) => m.folder === 'inbox').map(([id, m]) => `${id} from ${m.from}`),
        a.page,
      ),
  }),
  search: read({
    does: 'finds mails of a sender',
    params: { from: 'text' },
    run: (s, a) => results(s.mails.where((m) => m.from === a.from).map(([id, m]) => `${id} from ${m.from}`)),
  }),
  open: read({
    does: 'shows a mail',
    params: { id: 'id' },
    run: (s, a) => {
      const found = s.mails.get(a.id)
      return found === undefined ? notFound : `${found.from} wrote about ${found.subject}`
    },
  }),
  send: write({
    does: 'sends a mail',
    params: { to: 'person', text: 'text' },
    run: (s, a) => {
      s.sent.add({ to: a.to, text: a.text })
      return `sent to ${a.to}`
    },
  }),
  reply: write({
    does: 'answers a mail',
    params: { id: 'id', text: 'text' },
    run: (s, a) => {
      const found = s.mails.get(a.id)
      if (found === undefined) return notFound
      s.sent.add({ to: found.from, text: a.text })
      return `replied to ${found.from}`
    },
  }),
  forward: write({
    does: 'sends a mail on to a person',
    params: { id: 'id', to: 'person' },
    run: (s, a) => {
      const found = s.mails.get(a.id)
      if (found === undefined) return notFound
      s.sent.add({ to: a.to, text: found.subject })
      return `forwarded ${found.subject} to ${a.to}`
    },
  }),
  archive: write({
    does: 'moves a mail out of the inbox',
    params: { id: 'id' },
    run: move('inbox', 'archive', 'archived'),
    undo: undoneBySame('unarchive'),
  }),
  unarchive: write({
    does: 'moves a mail back to the inbox',
    params: { id: 'id' },
    run: move('archive', 'inbox', 'unarchived'),
    undo: undoneBySame('archive'),
  }),
  star: write({
    does: 'marks a mail',
    params: { id: 'id' },
    run: setStar(true, 'starred'),
    undo: undoneBySame('unstar'),
  }),
  unstar: write({
    does: 'takes a mark off',
    params: { id: 'id' },
    run: setStar(false, 'unstarred'),
    undo: undoneBySame('star'),
  }),
  delete: write({
    does: 'deletes a mail for good',
    params: { id: 'id' },
    run: (s, a) => {
      const found = s.mails.get(a.id)
      if (found === undefined) return notFound
      s.mails.remove(a.id)
      return `deleted ${a.id} from ${found.from}`
    },
  }),
})
