import { conflict, defineApp, endpointsOf, notFound, pageOf, results, undoneByNewId, undoneBySame } from '../app.ts'
import type { Opening } from '../app.ts'
import { Collection } from '../journal.ts'

export type Note = { readonly title: string; readonly text: string; readonly pinned: boolean }
export type Tagged = { readonly note: string; readonly tag: string }

export interface NotesState {
  readonly notes: Collection<Note>
  readonly tags: Collection<Tagged>
}

export const tagKey = (note: string, tag: string): string => `${note}/${tag}`

const open = ({ journal, rng, draw }: Opening): NotesState => {
  const notes = new Collection<Note>('notes.notes', journal, 'n', rng.int(10, 70))
  const tags = new Collection<Tagged>('notes.tags', journal, 'z', 1)
  const count = rng.int(2, 5)
  for (let i = 0; i < count; i++) notes.seed({ title: draw.topic(), text: draw.event(), pinned: false })
  return { notes, tags }
}

const { read, write } = endpointsOf<NotesState>()

const setPin = (pinned: boolean, done: string) => (s: NotesState, a: { readonly id: string }) => {
  const note = s.notes.get(a.id)
  if (note === undefined) return notFound
  if (note.pinned === pinned) return conflict(`already ${done}`)
  s.notes.put(a.id, { ...note, pinned })
  return `${done} ${a.id} ${note.title}`
}

/** Short notes with tags. */
export const notes = defineApp<NotesState>('notes', open, {
  list: read({
    does: 'lists the notes',
    params: { page: 'page' },
    run: (s, a) =>
      pageOf(
        s.notes.entries().map(([id, n]) => `${id} ${n.title}`),
        a.page,
      ),
  }),
  search: read({
    does: 'finds notes by title',
    params: { title: 'text' },
    run: (s, a) => results(s.notes.where((n) => n.title === a.title).map(([id, n]) => `${id} ${n.title}`)),
  }),
  open: read({
    does: 'shows a note',
    params: { id: 'id' },
    run: (s, a) => {
      const note = s.notes.get(a.id)
      return note === undefined ? notFound : `${note.title}: ${note.text}`
    },
  }),
  create: write({
    does: 'writes a new note',
    params: { title: 'text', text: 'text' },
    run: (s, a) => `created ${s.notes.add({ title: a.title, text: a.text, pinned: false })} ${a.title}`,
    undo: undoneByNewId('delete'),
  }),
  delete: write({
    does: 'deletes a note for good',
    params: { id: 'id' },
    run: (s, a) => {
      const note = s.notes.get(a.id)
      if (note === undefined) return notFound
      for (const [key] of s.tags.where((t) => t.note === a.id)) s.tags.remove(key)
      s.notes.remove(a.id)
      return `deleted ${a.id} ${note.title}`
    },
  }),
  append: write({
    does: 'adds text to a note',
    params: { id: 'id', text: 'text' },
    run: (s, a) => {
      const note = s.notes.get(a.id)
      if (note === undefined) return notFound
      s.notes.put(a.id, { ...note, text: `${note.text}, ${a.text}` })
      return `added to ${a.id} ${note.title}`
    },
  }),
  replace: write({
    does: 'overwrites the text of a note',
    params: { id: 'id', text: 'text' },
    run: (s, a) => {
      const note = s.notes.get(a.id)
      if (note === undefined) return notFound
      if (note.text === a.text) return conflict('same text')
      s.notes.put(a.id, { ...note, text: a.text })
      return `replaced text of ${note.title}`
    },
  }),
  pin: write({ does: 'pins a note', params: { id: 'id' }, run: setPin(true, 'pinned'), undo: undoneBySame('unpin') }),
  unpin: write({
    does: 'unpins a note',
    params: { id: 'id' },
    run: setPin(false, 'unpinned'),
    undo: undoneBySame('pin'),
  }),
  tag: write({
    does: 'tags a note',
    params: { id: 'id', tag: 'text' },
    run: (s, a) => {
      const note = s.notes.get(a.id)
      if (note === undefined) return notFound
      const key = tagKey(a.id, a.tag)
      if (s.tags.get(key) !== undefined) return conflict('already tagged')
      s.tags.add({ note: a.id, tag: a.tag }, key)
      return `tagged ${note.title} ${a.tag}`
    },
    undo: undoneBySame('untag'),
  }),
  untag: write({
    does: 'takes a tag off',
    params: { id: 'id', tag: 'text' },
    run: (s, a) => {
      const key = tagKey(a.id, a.tag)
      if (s.tags.get(key) === undefined) return notFound
      s.tags.remove(key)
      return `untagged ${s.notes.get(a.id)?.title ?? a.id} ${a.tag}`
    },
    undo: undoneBySame('tag'),
  }),
})
