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

export type File = {
  readonly name: string
  readonly folder: string
  readonly text: string
  readonly trashed: boolean
  readonly locked: boolean
}
export type Share = { readonly file: string; readonly person: string }

export interface FilesState {
  readonly files: Collection<File>
  readonly shares: Collection<Share>
}

export const shareKey = (file: string, person: string): string => `${file}/${person}`

const open = ({ journal, rng, draw }: Opening): FilesState => {
  const files = new Collection<File>('files.files', journal, 'f', rng.int(10, 70))
  const shares = new Collection<Share>('files.shares', journal, 'h', 1)
  const count = rng.int(2, 5)
  for (let i = 0; i < count; i++) {
    files.seed({
      name: draw.file(),
      folder: draw.folder(),
      text: draw.topic(),
      trashed: false,
      locked: rng.chance(0.2),
    })
  }
  return { files, shares }
}

const { read, write } = endpointsOf<FilesState>()

/** Runs a change on a file that exists and is not locked. */
const onFile =
  <A extends { readonly id: string }>(
    change: (s: FilesState, a: A, file: File) => string | ReturnType<typeof conflict>,
  ) =>
  (s: FilesState, a: A) => {
    const file = s.files.get(a.id)
    if (file === undefined) return notFound
    return file.locked ? forbidden('file is locked') : change(s, a, file)
  }

const setTrash = (trashed: boolean, done: string) =>
  onFile<{ readonly id: string }>((s, a, file) => {
    if (file.trashed === trashed) return conflict(`already ${done}`)
    s.files.put(a.id, { ...file, trashed })
    return `${done} ${a.id} ${file.name}`
  })

/** Files in folders, with a bin and with sharing. */
export const files = defineApp<FilesState>('files', open, {
  list: read({
    does: 'lists recent files',
    params: { page: 'page' },
    run: (s, a) =>
      pageOf(
        s.files.where((f) => !f.trashed).map(([id, f]) => `${id} ${f.name}`),
        a.page,
      ),
  }),
  find: read({
    does: 'finds files by name',
    params: { name: 'text' },
    run: (s, a) => results(s.files.where((f) => f.name === a.name).map(([id, f]) => `${id} ${f.name} in ${f.folder}`)),
  }),
  folder: read({
    does: 'lists files of a folder',
    params: { folder: 'text' },
    run: (s, a) =>
      results(s.files.where((f) => f.folder === a.folder && !f.trashed).map(([id, f]) => `${id} ${f.name}`)),
  }),
  read: read({
    does: 'shows the text of a file',
    params: { id: 'id' },
    run: (s, a) => {
      const file = s.files.get(a.id)
      return file === undefined ? notFound : `${file.name}: ${file.text}`
    },
  }),
  copy: write({
    does: 'copies a file to a folder',
    params: { id: 'id', folder: 'text' },
    run: (s, a) => {
      const file = s.files.get(a.id)
      if (file === undefined) return notFound
      const id = s.files.add({ ...file, folder: a.folder, locked: false })
      return `copy ${id} of ${file.name} in ${a.folder}`
    },
    undo: undoneByNewId('delete'),
  }),
  delete: write({
    does: 'deletes a file for good',
    params: { id: 'id' },
    run: onFile<{ readonly id: string }>((s, a, file) => {
      for (const [key] of s.shares.where((share) => share.file === a.id)) s.shares.remove(key)
      s.files.remove(a.id)
      return `deleted ${a.id} ${file.name}`
    }),
  }),
  trash: write({
    does: 'puts a file in the bin',
    params: { id: 'id' },
    run: setTrash(true, 'trashed'),
    undo: undoneBySame('recover'),
  }),
  recover: write({
    does: 'takes a file out of the bin',
    params: { id: 'id' },
    run: setTrash(false, 'recovered'),
    undo: undoneBySame('trash'),
  }),
  share: write({
    does: 'gives a person access',
    params: { id: 'id', person: 'person' },
    run: onFile<{ readonly id: string; readonly person: string }>((s, a, file) => {
      const key = shareKey(a.id, a.person)
      if (s.shares.get(key) !== undefined) return conflict('already shared')
      s.shares.add({ file: a.id, person: a.person }, key)
      return `shared ${file.name} with ${a.person}`
    }),
    undo: undoneBySame('unshare'),
  }),
  unshare: write({
    does: 'ends access of a person',
    params: { id: 'id', person: 'person' },
    run: onFile<{ readonly id: string; readonly person: string }>((s, a, file) => {
      const key = shareKey(a.id, a.person)
      if (s.shares.get(key) === undefined) return conflict('not shared')
      s.shares.remove(key)
      return `unshared ${file.name} from ${a.person}`
    }),
    undo: undoneBySame('share'),
  }),
  rename: write({
    does: 'gives a file a new name',
    params: { id: 'id', name: 'text' },
    run: onFile<{ readonly id: string; readonly name: string }>((s, a, file) => {
      if (file.name === a.name) return conflict('same name')
      s.files.put(a.id, { ...file, name: a.name })
      return `renamed ${file.name} to ${a.name}`
    }),
  }),
  write: write({
    does: 'overwrites the text of a file',
    params: { id: 'id', text: 'text' },
    run: onFile<{ readonly id: string; readonly text: string }>((s, a, file) => {
      if (file.text === a.text) return conflict('same text')
      s.files.put(a.id, { ...file, text: a.text })
      return `wrote ${file.name}`
    }),
  }),
})
