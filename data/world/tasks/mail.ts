import { mail } from '../apps/mail.ts'
import type { Mail } from '../apps/mail.ts'
import type { World } from '../world.ts'
import { call, changed, created, defineTask, idOf, removed } from './template.ts'
import type { Solution } from './template.ts'

const seedMail = (world: World, from: string, extra: Partial<Mail> = {}): void => {
  world.state(mail).mails.seed({ from, subject: 'hello', folder: 'inbox', starred: false, ...extra })
}

/** Finds the mail of a person, then makes one call with its id. */
function* onMailFrom(from: string, endpoint: `mail.${string}`, extra: Readonly<Record<string, string>> = {}): Solution {
  const found = yield [call('mail.search', { from })]
  yield [call(endpoint, { id: idOf(found), ...extra })]
}

export const mailTasks = [
  defineTask({
    id: 'mail.read',
    apps: ['mail'],
    draw: (d) => ({ person: d.person(), topic: d.topic() }),
    texts: ['Tell me what {person} wrote.', 'Read the mail from {person} to me.'],
    setup: (w, p) => seedMail(w, p.person, { subject: p.topic }),
    solve: (p) => onMailFrom(p.person, 'mail.open'),
  }),
  defineTask({
    id: 'mail.send',
    apps: ['mail'],
    draw: (d) => ({ person: d.person(), topic: d.topic() }),
    texts: ['Mail {person} about {topic}.', 'Send a mail about {topic} to {person}.'],
    setup: (w, p) => seedMail(w, p.person),
    solve: function* (p): Solution {
      yield [call('mail.send', { to: p.person, text: p.topic })]
    },
    goals: (p) => [created('mail.sent', { to: p.person, text: p.topic })],
  }),
  defineTask({
    id: 'mail.reply',
    apps: ['mail'],
    draw: (d) => ({ person: d.person(), topic: d.topic() }),
    texts: ['Answer the mail from {person} with {topic}.', 'Reply {topic} to the mail of {person}.'],
    setup: (w, p) => seedMail(w, p.person),
    solve: (p) => onMailFrom(p.person, 'mail.reply', { text: p.topic }),
    goals: (p) => [created('mail.sent', { to: p.person, text: p.topic })],
  }),
  defineTask({
    id: 'mail.forward',
    apps: ['mail'],
    draw: (d) => ({ person: d.person(), to: d.person(), topic: d.topic() }),
    texts: ['Forward the mail from {person} to {to}.', 'Pass the mail of {person} on to {to}.'],
    setup: (w, p) => seedMail(w, p.person, { subject: p.topic }),
    solve: (p) => onMailFrom(p.person, 'mail.forward', { to: p.to }),
    goals: (p) => [created('mail.sent', { to: p.to, text: p.topic })],
  }),
  defineTask({
    id: 'mail.archive',
    apps: ['mail'],
    draw: (d) => ({ person: d.person() }),
    texts: ['Archive the mail from {person}.', 'Put the mail of {person} in the archive.'],
    setup: (w, p) => seedMail(w, p.person),
    solve: (p) => onMailFrom(p.person, 'mail.archive'),
    goals: (p) => [changed('mail.mails', { from: p.person, folder: 'inbox' }, { folder: 'archive' })],
  }),
  defineTask({
    id: 'mail.unarchive',
    apps: ['mail'],
    draw: (d) => ({ person: d.person() }),
    texts: ['Bring the archived mail from {person} back.', 'Move the mail of {person} back to the inbox.'],
    setup: (w, p) => seedMail(w, p.person, { folder: 'archive' }),
    solve: (p) => onMailFrom(p.person, 'mail.unarchive'),
    goals: (p) => [changed('mail.mails', { from: p.person, folder: 'archive' }, { folder: 'inbox' })],
  }),
  defineTask({
    id: 'mail.star',
    apps: ['mail'],
    draw: (d) => ({ person: d.person() }),
    texts: ['Star the mail from {person}.', 'Mark the mail of {person} with a star.'],
    setup: (w, p) => seedMail(w, p.person),
    solve: (p) => onMailFrom(p.person, 'mail.star'),
    goals: (p) => [changed('mail.mails', { from: p.person, starred: false }, { starred: true })],
  }),
  defineTask({
    id: 'mail.unstar',
    apps: ['mail'],
    draw: (d) => ({ person: d.person() }),
    texts: ['Take the star off the mail from {person}.', 'Unstar the mail of {person}.'],
    setup: (w, p) => seedMail(w, p.person, { starred: true }),
    solve: (p) => onMailFrom(p.person, 'mail.unstar'),
    goals: (p) => [changed('mail.mails', { from: p.person, starred: true }, { starred: false })],
  }),
  defineTask({
    id: 'mail.delete',
    apps: ['mail'],
    draw: (d) => ({ person: d.person() }),
    texts: ['Delete the mail from {person}.', 'Remove the mail of {person} for good.'],
    setup: (w, p) => seedMail(w, p.person),
    solve: (p) => onMailFrom(p.person, 'mail.delete'),
    goals: (p) => [removed('mail.mails', { from: p.person })],
  }),
]
