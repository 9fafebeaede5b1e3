import { calendar } from '../apps/calendar.ts'
import type { World } from '../world.ts'
import { call, changed, created, defineTask, idOf, removed } from './template.ts'
import type { Solution } from './template.ts'

/** Seeds an event of the user's own on a monday, with guests. */
export const seedEvent = (world: World, title: string, guests: readonly string[] = []): void => {
  const state = world.state(calendar)
  const event = state.events.seed({ title, day: 'monday', own: true })
  for (const person of guests) state.guests.seed({ event, person }, `${event}/${person}`)
}

function* onEvent(
  title: string,
  endpoint: `calendar.${string}`,
  extra: Readonly<Record<string, string>> = {},
): Solution {
  const found = yield [call('calendar.find', { title })]
  yield [call(endpoint, { id: idOf(found), ...extra })]
}

const laterDays = ['tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const laterDay = (amount: number): string => laterDays[amount % laterDays.length] ?? 'tuesday'

export const calendarTasks = [
  defineTask({
    id: 'calendar.when',
    apps: ['calendar'],
    draw: (d) => ({ event: d.event() }),
    texts: ['When is {event}?', 'Tell me the day of {event}.'],
    setup: (w, p) => seedEvent(w, p.event),
    solve: function* (p): Solution {
      yield [call('calendar.find', { title: p.event })]
    },
  }),
  defineTask({
    id: 'calendar.who',
    apps: ['calendar'],
    draw: (d) => ({ event: d.event(), person: d.person() }),
    texts: ['Who comes to {event}?', 'List the guests of {event}.'],
    setup: (w, p) => seedEvent(w, p.event, [p.person]),
    solve: (p) => onEvent(p.event, 'calendar.guests'),
  }),
  defineTask({
    id: 'calendar.create',
    apps: ['calendar'],
    draw: (d) => ({ event: d.event(), day: d.day() }),
    texts: ['Add {event} on {day} to my calendar.', 'Plan {event} for {day}.'],
    setup: () => undefined,
    solve: function* (p): Solution {
      yield [call('calendar.create', { title: p.event, day: p.day })]
    },
    goals: (p) => [created('calendar.events', { title: p.event, day: p.day })],
  }),
  defineTask({
    id: 'calendar.cancel',
    apps: ['calendar'],
    draw: (d) => ({ event: d.event() }),
    texts: ['Cancel {event}.', 'Remove {event} from my calendar.'],
    setup: (w, p) => seedEvent(w, p.event),
    solve: (p) => onEvent(p.event, 'calendar.cancel'),
    goals: (p) => [removed('calendar.events', { title: p.event })],
  }),
  defineTask({
    id: 'calendar.move',
    apps: ['calendar'],
    draw: (d) => ({ event: d.event(), day: laterDay(d.amount()) }),
    texts: ['Move {event} to {day}.', 'Put {event} on {day} instead.'],
    setup: (w, p) => seedEvent(w, p.event),
    solve: (p) => onEvent(p.event, 'calendar.move', { day: p.day }),
    goals: (p) => [changed('calendar.events', { title: p.event, day: 'monday' }, { day: p.day })],
  }),
  defineTask({
    id: 'calendar.invite',
    apps: ['calendar'],
    draw: (d) => ({ event: d.event(), person: d.person() }),
    texts: ['Invite {person} to {event}.', 'Add {person} to the guests of {event}.'],
    setup: (w, p) => seedEvent(w, p.event),
    solve: (p) => onEvent(p.event, 'calendar.invite', { person: p.person }),
    goals: (p) => [created('calendar.guests', { person: p.person })],
  }),
  defineTask({
    id: 'calendar.uninvite',
    apps: ['calendar'],
    draw: (d) => ({ event: d.event(), person: d.person() }),
    texts: ['Uninvite {person} from {event}.', 'Take {person} off the guests of {event}.'],
    setup: (w, p) => seedEvent(w, p.event, [p.person]),
    solve: (p) => onEvent(p.event, 'calendar.uninvite', { person: p.person }),
    goals: (p) => [removed('calendar.guests', { person: p.person })],
  }),
  defineTask({
    id: 'calendar.rename',
    apps: ['calendar'],
    draw: (d) => ({ event: d.event(), title: d.event() }),
    texts: ['Rename {event} to {title}.', 'Call {event} {title} from now on.'],
    setup: (w, p) => seedEvent(w, p.event),
    solve: (p) => onEvent(p.event, 'calendar.rename', { title: p.title }),
    goals: (p) => [changed('calendar.events', { title: p.event }, { title: p.title })],
  }),
]
