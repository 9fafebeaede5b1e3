import { files, shareKey } from '../apps/files.ts'
import type { World } from '../world.ts'
import { call, changed, created, defineTask, idOf, removed } from './template.ts'
import type { Solution } from './template.ts'

/** Seeds an unlocked file and returns its id. */
export const seedFile = (world: World, name: string, folder = 'misc', text = 'empty', trashed = false): string =>
  world.state(files).files.seed({ name, folder, text, trashed, locked: false })

function* onFile(name: string, endpoint: `files.${string}`, extra: Readonly<Record<string, string>> = {}): Solution {
  const found = yield [call('files.find', { name })]
  yield [call(endpoint, { id: idOf(found), ...extra })]
}

export const fileTasks = [
  defineTask({
    id: 'files.read',
    apps: ['files'],
    draw: (d) => ({ file: d.file(), text: d.topic() }),
    texts: ['What is in {file}?', 'Read {file} to me.'],
    setup: (w, p) => void seedFile(w, p.file, 'misc', p.text),
    solve: (p) => onFile(p.file, 'files.read'),
  }),
  defineTask({
    id: 'files.folder',
    apps: ['files'],
    draw: (d) => ({ folder: d.folder(), file: d.file() }),
    texts: ['Which files are in the folder {folder}?', 'List the folder {folder}.'],
    setup: (w, p) => void seedFile(w, p.file, p.folder),
    solve: function* (p): Solution {
      yield [call('files.folder', { folder: p.folder })]
    },
  }),
  defineTask({
    id: 'files.copy',
    apps: ['files'],
    draw: (d) => ({ file: d.file(), folder: d.folder() }),
    texts: ['Copy {file} to the folder {folder}.', 'Put a copy of {file} in {folder}.'],
    setup: (w, p) => void seedFile(w, p.file),
    solve: (p) => onFile(p.file, 'files.copy', { folder: p.folder }),
    goals: (p) => [created('files.files', { name: p.file, folder: p.folder })],
  }),
  defineTask({
    id: 'files.delete',
    apps: ['files'],
    draw: (d) => ({ file: d.file() }),
    texts: ['Delete {file} for good.', 'Remove {file} completely.'],
    setup: (w, p) => void seedFile(w, p.file),
    solve: (p) => onFile(p.file, 'files.delete'),
    goals: (p) => [removed('files.files', { name: p.file })],
  }),
  defineTask({
    id: 'files.trash',
    apps: ['files'],
    draw: (d) => ({ file: d.file() }),
    texts: ['Put {file} in the bin.', 'Move {file} to the trash.'],
    setup: (w, p) => void seedFile(w, p.file),
    solve: (p) => onFile(p.file, 'files.trash'),
    goals: (p) => [changed('files.files', { name: p.file, trashed: false }, { trashed: true })],
  }),
  defineTask({
    id: 'files.recover',
    apps: ['files'],
    draw: (d) => ({ file: d.file() }),
    texts: ['Recover {file} from the bin.', 'Get {file} out of the trash.'],
    setup: (w, p) => void seedFile(w, p.file, 'misc', 'empty', true),
    solve: (p) => onFile(p.file, 'files.recover'),
    goals: (p) => [changed('files.files', { name: p.file, trashed: true }, { trashed: false })],
  }),
  defineTask({
    id: 'files.share',
    apps: ['files'],
    draw: (d) => ({ file: d.file(), person: d.person() }),
    texts: ['Share {file} with {person}.', 'Give {person} access to {file}.'],
    setup: (w, p) => void seedFile(w, p.file),
    solve: (p) => onFile(p.file, 'files.share', { person: p.person }),
    goals: (p) => [created('files.shares', { person: p.person })],
  }),
  defineTask({
    id: 'files.unshare',
    apps: ['files'],
    draw: (d) => ({ file: d.file(), person: d.person() }),
    texts: ['Stop sharing {file} with {person}.', 'End the access of {person} to {file}.'],
    setup: (w, p) => {
      const file = seedFile(w, p.file)
      w.state(files).shares.seed({ file, person: p.person }, shareKey(file, p.person))
    },
    solve: (p) => onFile(p.file, 'files.unshare', { person: p.person }),
    goals: (p) => [removed('files.shares', { person: p.person })],
  }),
  defineTask({
    id: 'files.rename',
    apps: ['files'],
    draw: (d) => ({ file: d.file(), name: d.file() }),
    texts: ['Rename {file} to {name}.', 'Give {file} the name {name}.'],
    setup: (w, p) => void seedFile(w, p.file),
    solve: (p) => onFile(p.file, 'files.rename', { name: p.name }),
    goals: (p) => [changed('files.files', { name: p.file }, { name: p.name })],
  }),
  defineTask({
    id: 'files.write',
    apps: ['files'],
    draw: (d) => ({ file: d.file(), text: d.topic() }),
    texts: ['Write {text} into {file}.', 'Overwrite {file} with {text}.'],
    setup: (w, p) => void seedFile(w, p.file),
    solve: (p) => onFile(p.file, 'files.write', { text: p.text }),
    goals: (p) => [changed('files.files', { name: p.file }, { text: p.text })],
  }),
]
