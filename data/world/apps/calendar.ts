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

export type Event = { readonly title: string; readonly day: string; readonly own: boolean }
export type Guest = { readonly event: string; readonly person: string }

export interface CalendarState {
  readonly events: Collection<Event>
  readonly guests: Collection<Guest>
}

const open = ({ journal, rng, draw }: Opening): CalendarState => {
  const events = new Collection<Event>('calendar.events', journal, 'e', rng.int(10, 70))
  const guests = new Collection<Guest>('calendar.guests', journal, 'g', 1)
  const count = rng.int(2, 5)
  for (let i = 0; i < count; i++) events.seed({ title: draw.event(), day: draw.day(), own: rng.chance(0.7) })
  return { events, guests }
}

const { read, write } = endpointsOf<CalendarState>()
const guestKey = (event: string, person: string): string => `${event}/${person}`

/** Events, their days and their guests. */
export const calendar = defineApp<CalendarState>('calendar', open, {
  list: read({
    does: 'lists coming events',
    params: { page: 'page' },
    run: (s, a) =>
      pageOf(
        s.events.entries().map(([id, e]) => `${id} ${e.title}`),
        a.page,
      ),
  }),
  find: read({
    does: 'finds events by title',
    params: { title: 'text' },
    run: (s, a) => results(s.events.where((e) => e.title === a.title).map(([id, e]) => `${id} ${e.title} on ${e.day}`)),
  }),
  guests: read({
    does: 'lists the guests of an event',
    params: { id: 'id' },
    run: (s, a) => {
      const event = s.events.get(a.id)
      if (event === undefined) return notFound
      const names = s.guests.where((g) => g.event === a.id).map(([, g]) => g.person)
      return `${event.title}: ${names.length === 0 ? 'no guests' : names.join(', ')}`
    },
  }),
  create: write({
    does: 'adds an event',
    params: { title: 'text', day: 'day' },
    run: (s, a) => `created ${s.events.add({ title: a.title, day: a.day, own: true })} ${a.title}`,
    undo: undoneByNewId('cancel'),
  }),
  cancel: write({
    does: 'removes an event for good',
    params: { id: 'id' },
    run: (s, a) => {
      const event = s.events.get(a.id)
      if (event === undefined) return notFound
      if (!event.own) return forbidden('not your event')
      for (const [key] of s.guests.where((g) => g.event === a.id)) s.guests.remove(key)
      s.events.remove(a.id)
      return `cancelled ${event.title}`
    },
  }),
  move: write({
    does: 'puts an event on another day',
    params: { id: 'id', day: 'day' },
    run: (s, a) => {
      const event = s.events.get(a.id)
      if (event === undefined) return notFound
      if (!event.own) return forbidden('not your event')
      if (event.day === a.day) return conflict('same day')
      s.events.put(a.id, { ...event, day: a.day })
      return `moved ${event.title} to ${a.day}`
    },
  }),
  invite: write({
    does: 'adds a guest',
    params: { id: 'id', person: 'person' },
    run: (s, a) => {
      const event = s.events.get(a.id)
      if (event === undefined) return notFound
      const key = guestKey(a.id, a.person)
      if (s.guests.get(key) !== undefined) return conflict('already invited')
      s.guests.add({ event: a.id, person: a.person }, key)
      return `invited ${a.person} to ${event.title}`
    },
    undo: undoneBySame('uninvite'),
  }),
  uninvite: write({
    does: 'takes a guest off',
    params: { id: 'id', person: 'person' },
    run: (s, a) => {
      const key = guestKey(a.id, a.person)
      if (s.guests.get(key) === undefined) return notFound
      s.guests.remove(key)
      return `uninvited ${a.person} from ${s.events.get(a.id)?.title ?? a.id}`
    },
    undo: undoneBySame('invite'),
  }),
  rename: write({
    does: 'gives an event a new title',
    params: { id: 'id', title: 'text' },
    run: (s, a) => {
      const event = s.events.get(a.id)
      if (event === undefined) return notFound
      if (event.title === a.title) return conflict('same title')
      s.events.put(a.id, { ...event, title: a.title })
      return `renamed ${event.title} to ${a.title}`
    },
  }),
})
