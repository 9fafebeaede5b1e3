import { conflict, defineApp, endpointsOf, notFound, pageOf, results, undoneBySame } from '../app.ts'
import type { Opening } from '../app.ts'
import { Collection } from '../journal.ts'

export type Song = { readonly artist: string; readonly liked: boolean }
export type Playlist = { readonly open: boolean }
export type Entry = { readonly playlist: string; readonly song: string }
export type Followed = { readonly artist: string }
export type Player = { readonly song: string }

export interface MusicState {
  readonly songs: Collection<Song>
  readonly playlists: Collection<Playlist>
  readonly entries: Collection<Entry>
  readonly followed: Collection<Followed>
  readonly player: Collection<Player>
}

export const entryKey = (playlist: string, song: string): string => `${playlist}/${song}`

const open = ({ journal, rng, draw }: Opening): MusicState => {
  const state: MusicState = {
    songs: new Collection<Song>('music.songs', journal, 't', 1),
    playlists: new Collection<Playlist>('music.playlists', journal, 'l', 1),
    entries: new Collection<Entry>('music.entries', journal, 'n', 1),
    followed: new Collection<Followed>('music.followed', journal, 'w', 1),
    player: new Collection<Player>('music.player', journal, 'd', 1),
  }
  const count = rng.int(2, 4)
  for (let i = 0; i < count; i++) {
    const song = state.songs.seed({ artist: draw.artist(), liked: false }, draw.song())
    const playlist = state.playlists.seed({ open: true }, draw.playlist())
    state.entries.seed({ playlist, song }, entryKey(playlist, song))
    if (i === 0) state.player.seed({ song }, 'now')
  }
  return state
}

const { read, write } = endpointsOf<MusicState>()

const setLike = (liked: boolean, done: string) => (s: MusicState, a: { readonly song: string }) => {
  const song = s.songs.get(a.song)
  if (song === undefined) return notFound
  if (song.liked === liked) return conflict(`already ${done}`)
  s.songs.put(a.song, { ...song, liked })
  return `${done} ${a.song}`
}

/** Songs, playlists and artists. */
export const music = defineApp<MusicState>('music', open, {
  list: read({
    does: 'lists the playlists',
    params: { page: 'page' },
    run: (s, a) =>
      pageOf(
        s.playlists.entries().map(([name]) => name),
        a.page,
      ),
  }),
  search: read({
    does: 'finds songs of an artist',
    params: { artist: 'text' },
    run: (s, a) => results(s.songs.where((song) => song.artist === a.artist).map(([name]) => name)),
  }),
  playlist: read({
    does: 'lists songs of a playlist',
    params: { playlist: 'text' },
    run: (s, a) => {
      if (s.playlists.get(a.playlist) === undefined) return notFound
      return results(s.entries.where((e) => e.playlist === a.playlist).map(([, e]) => e.song))
    },
  }),
  like: write({
    does: 'likes a song',
    params: { song: 'text' },
    run: setLike(true, 'liked'),
    undo: undoneBySame('unlike'),
  }),
  unlike: write({
    does: 'takes a like back',
    params: { song: 'text' },
    run: setLike(false, 'unliked'),
    undo: undoneBySame('like'),
  }),
  add: write({
    does: 'puts a song on a playlist',
    params: { song: 'text', playlist: 'text' },
    run: (s, a) => {
      if (s.songs.get(a.song) === undefined || s.playlists.get(a.playlist) === undefined) return notFound
      const key = entryKey(a.playlist, a.song)
      if (s.entries.get(key) !== undefined) return conflict('already there')
      s.entries.add({ playlist: a.playlist, song: a.song }, key)
      return `added ${a.song} to ${a.playlist}`
    },
    undo: undoneBySame('remove'),
  }),
  remove: write({
    does: 'takes a song off a playlist',
    params: { song: 'text', playlist: 'text' },
    run: (s, a) => {
      const key = entryKey(a.playlist, a.song)
      if (s.entries.get(key) === undefined) return notFound
      s.entries.remove(key)
      return `removed ${a.song} from ${a.playlist}`
    },
    undo: undoneBySame('add'),
  }),
  clear: write({
    does: 'empties a playlist',
    params: { playlist: 'text' },
    run: (s, a) => {
      const found = s.entries.where((e) => e.playlist === a.playlist)
      if (found.length === 0) return notFound
      for (const [key] of found) s.entries.remove(key)
      return `cleared ${a.playlist}`
    },
  }),
  delete: write({
    does: 'deletes an empty playlist',
    params: { playlist: 'text' },
    run: (s, a) => {
      if (s.playlists.get(a.playlist) === undefined) return notFound
      if (s.entries.where((e) => e.playlist === a.playlist).length > 0) return conflict('not empty')
      s.playlists.remove(a.playlist)
      return `deleted ${a.playlist}`
    },
    undo: undoneBySame('create'),
  }),
  create: write({
    does: 'makes an empty playlist',
    params: { playlist: 'text' },
    run: (s, a) => {
      if (s.playlists.get(a.playlist) !== undefined) return conflict('playlist exists')
      s.playlists.add({ open: true }, a.playlist)
      return `created ${a.playlist}`
    },
    undo: undoneBySame('delete'),
  }),
  follow: write({
    does: 'follows an artist',
    params: { artist: 'text' },
    run: (s, a) => {
      if (s.followed.get(a.artist) !== undefined) return conflict('already followed')
      if (s.songs.where((song) => song.artist === a.artist).length === 0) return notFound
      s.followed.add({ artist: a.artist }, a.artist)
      return `followed ${a.artist}`
    },
    undo: undoneBySame('unfollow'),
  }),
  unfollow: write({
    does: 'stops following an artist',
    params: { artist: 'text' },
    run: (s, a) => {
      if (s.followed.get(a.artist) === undefined) return notFound
      s.followed.remove(a.artist)
      return `unfollowed ${a.artist}`
    },
    undo: undoneBySame('follow'),
  }),
  play: write({
    does: 'plays a song now',
    params: { song: 'text' },
    run: (s, a) => {
      if (s.songs.get(a.song) === undefined) return notFound
      if (s.player.get('now')?.song === a.song) return conflict('already playing')
      s.player.put('now', { song: a.song })
      return `playing ${a.song}`
    },
  }),
})
