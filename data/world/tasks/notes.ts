import { notes, tagKey } from '../apps/notes.ts'
import type { World } from '../world.ts'
import { call, changed, created, defineTask, idOf, removed } from './template.ts'
import type { Solution } from './template.ts'

/** Seeds a note and returns its id. */
export const seedNote = (world: World, title: string, text = 'empty', pinned = false): string =>
  world.state(notes).notes.seed({ title, text, pinned })

function* onNote(title: string, endpoint: `notes.${string}`, extra: Readonly<Record<string, string>> = {}): Solution {
  const found = yield [call('notes.search', { title })]
  yield [call(endpoint, { id: idOf(found), ...extra })]
}

export const noteTasks = [
  defineTask({
    id: 'notes.read',
    apps: ['notes'],
    draw: (d) => ({ topic: d.topic(), text: d.event() }),
    texts: ['What does my note {topic} say?', 'Read me the note {topic}.'],
    setup: (w, p) => void seedNote(w, p.topic, p.text),
    solve: (p) => onNote(p.topic, 'notes.open'),
  }),
  defineTask({
    id: 'notes.create',
    apps: ['notes'],
    draw: (d) => ({ topic: d.topic(), text: d.event() }),
    texts: ['Write a note {topic} saying {text}.', 'Note down {text} under {topic}.'],
    setup: () => undefined,
    solve: function* (p): Solution {
      yield [call('notes.create', { title: p.topic, text: p.text })]
    },
    goals: (p) => [created('notes.notes', { title: p.topic, text: p.text })],
  }),
  defineTask({
    id: 'notes.delete',
    apps: ['notes'],
    draw: (d) => ({ topic: d.topic() }),
    texts: ['Delete the note {topic}.', 'Throw my note {topic} away.'],
    setup: (w, p) => void seedNote(w, p.topic),
    solve: (p) => onNote(p.topic, 'notes.delete'),
    goals: (p) => [removed('notes.notes', { title: p.topic })],
  }),
  defineTask({
    id: 'notes.append',
    apps: ['notes'],
    draw: (d) => ({ topic: d.topic(), text: d.event() }),
    texts: ['Add {text} to the note {topic}.', 'Put {text} at the end of my note {topic}.'],
    setup: (w, p) => void seedNote(w, p.topic),
    solve: (p) => onNote(p.topic, 'notes.append', { text: p.text }),
    goals: (p) => [changed('notes.notes', { title: p.topic }, { text: `empty, ${p.text}` })],
  }),
  defineTask({
    id: 'notes.replace',
    apps: ['notes'],
    draw: (d) => ({ topic: d.topic(), text: d.event() }),
    texts: ['Replace the text of note {topic} with {text}.', 'Let the note {topic} just say {text}.'],
    setup: (w, p) => void seedNote(w, p.topic),
    solve: (p) => onNote(p.topic, 'notes.replace', { text: p.text }),
    goals: (p) => [changed('notes.notes', { title: p.topic }, { text: p.text })],
  }),
  defineTask({
    id: 'notes.pin',
    apps: ['notes'],
    draw: (d) => ({ topic: d.topic() }),
    texts: ['Pin the note {topic}.', 'Keep my note {topic} on top.'],
    setup: (w, p) => void seedNote(w, p.topic),
    solve: (p) => onNote(p.topic, 'notes.pin'),
    goals: (p) => [changed('notes.notes', { title: p.topic, pinned: false }, { pinned: true })],
  }),
  defineTask({
    id: 'notes.unpin',
    apps: ['notes'],
    draw: (d) => ({ topic: d.topic() }),
    texts: ['Unpin the note {topic}.', 'My note {topic} need not stay on top.'],
    setup: (w, p) => void seedNote(w, p.topic, 'empty', true),
    solve: (p) => onNote(p.topic, 'notes.unpin'),
    goals: (p) => [changed('notes.notes', { title: p.topic, pinned: true }, { pinned: false })],
  }),
  defineTask({
    id: 'notes.tag',
    apps: ['notes'],
    draw: (d) => ({ topic: d.topic(), tag: d.tag() }),
    texts: ['Tag the note {topic} as {tag}.', 'Give my note {topic} the tag {tag}.'],
    setup: (w, p) => void seedNote(w, p.topic),
    solve: (p) => onNote(p.topic, 'notes.tag', { tag: p.tag }),
    goals: (p) => [created('notes.tags', { tag: p.tag })],
  }),
  defineTask({
    id: 'notes.untag',
    apps: ['notes'],
    draw: (d) => ({ topic: d.topic(), tag: d.tag() }),
    texts: ['Take the tag {tag} off note {topic}.', 'Untag {tag} from my note {topic}.'],
    setup: (w, p) => {
      const note = seedNote(w, p.topic)
      w.state(notes).tags.seed({ note, tag: p.tag }, tagKey(note, p.tag))
    },
    solve: (p) => onNote(p.topic, 'notes.untag', { tag: p.tag }),
    goals: (p) => [removed('notes.tags', { tag: p.tag })],
  }),
]
