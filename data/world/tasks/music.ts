import { entryKey, music } from '../apps/music.ts'
import type { World } from '../world.ts'
import { call, changed, created, defineTask, removed } from './template.ts'
import type { Solution } from './template.ts'

const seedSong = (world: World, song: string, artist: string, liked = false): void => {
  world.state(music).songs.seed({ artist, liked }, song)
}

const seedPlaylist = (world: World, playlist: string, on: readonly string[] = []): void => {
  const state = world.state(music)
  state.playlists.seed({ open: true }, playlist)
  for (const song of on) state.entries.seed({ playlist, song }, entryKey(playlist, song))
}

export const musicTasks = [
  defineTask({
    id: 'music.by',
    apps: ['music'],
    draw: (d) => ({ artist: d.artist(), song: d.song() }),
    texts: ['Which songs are by {artist}?', 'Find songs of {artist}.'],
    setup: (w, p) => seedSong(w, p.song, p.artist),
    solve: function* (p): Solution {
      yield [call('music.search', { artist: p.artist })]
    },
  }),
  defineTask({
    id: 'music.on',
    apps: ['music'],
    draw: (d) => ({ playlist: d.playlist(), song: d.song(), artist: d.artist() }),
    texts: ['What is on my {playlist} playlist?', 'List the songs of {playlist}.'],
    setup: (w, p) => {
      seedSong(w, p.song, p.artist)
      seedPlaylist(w, p.playlist, [p.song])
    },
    solve: function* (p): Solution {
      yield [call('music.playlist', { playlist: p.playlist })]
    },
  }),
  defineTask({
    id: 'music.like',
    apps: ['music'],
    draw: (d) => ({ song: d.song(), artist: d.artist() }),
    texts: ['Like {song} by {artist}.', 'Give {song} of {artist} a like.'],
    setup: (w, p) => seedSong(w, p.song, p.artist),
    solve: function* (p): Solution {
      yield [call('music.search', { artist: p.artist })]
      yield [call('music.like', { song: p.song })]
    },
    goals: (p) => [changed('music.songs', { artist: p.artist, liked: false }, { liked: true })],
  }),
  defineTask({
    id: 'music.unlike',
    apps: ['music'],
    draw: (d) => ({ song: d.song(), artist: d.artist() }),
    texts: ['Take my like off {song}.', 'Unlike {song}.'],
    setup: (w, p) => seedSong(w, p.song, p.artist, true),
    solve: function* (p): Solution {
      yield [call('music.unlike', { song: p.song })]
    },
    goals: (p) => [changed('music.songs', { artist: p.artist, liked: true }, { liked: false })],
  }),
  defineTask({
    id: 'music.add',
    apps: ['music'],
    draw: (d) => ({ song: d.song(), playlist: d.playlist(), artist: d.artist() }),
    texts: ['Put {song} on my {playlist} playlist.', 'Add {song} to {playlist}.'],
    setup: (w, p) => {
      seedSong(w, p.song, p.artist)
      seedPlaylist(w, p.playlist)
    },
    solve: function* (p): Solution {
      yield [call('music.playlist', { playlist: p.playlist })]
      yield [call('music.add', { song: p.song, playlist: p.playlist })]
    },
    goals: (p) => [created('music.entries', { playlist: p.playlist, song: p.song })],
  }),
  defineTask({
    id: 'music.remove',
    apps: ['music'],
    draw: (d) => ({ song: d.song(), playlist: d.playlist(), artist: d.artist() }),
    texts: ['Take {song} off my {playlist} playlist.', 'Remove {song} from {playlist}.'],
    setup: (w, p) => {
      seedSong(w, p.song, p.artist)
      seedPlaylist(w, p.playlist, [p.song])
    },
    solve: function* (p): Solution {
      yield [call('music.playlist', { playlist: p.playlist })]
      yield [call('music.remove', { song: p.song, playlist: p.playlist })]
    },
    goals: (p) => [removed('music.entries', { playlist: p.playlist, song: p.song })],
  }),
  defineTask({
    id: 'music.clear',
    apps: ['music'],
    draw: (d) => ({ playlist: d.playlist(), song: d.song(), artist: d.artist() }),
    texts: ['Empty my {playlist} playlist and delete it.', 'Clear {playlist}, then delete the playlist.'],
    setup: (w, p) => {
      seedSong(w, p.song, p.artist)
      seedPlaylist(w, p.playlist, [p.song])
    },
    solve: function* (p): Solution {
      yield [call('music.clear', { playlist: p.playlist })]
      yield [call('music.delete', { playlist: p.playlist })]
    },
    goals: (p) => [
      removed('music.entries', { playlist: p.playlist, song: p.song }),
      removed('music.playlists', { open: true }),
    ],
  }),
  defineTask({
    id: 'music.create',
    apps: ['music'],
    draw: (d) => ({ playlist: d.playlist(), song: d.song(), artist: d.artist() }),
    texts: ['Make a playlist {playlist} with {song}.', 'Start a new playlist {playlist} holding {song}.'],
    setup: (w, p) => seedSong(w, p.song, p.artist),
    solve: function* (p): Solution {
      yield [call('music.create', { playlist: p.playlist })]
      yield [call('music.add', { song: p.song, playlist: p.playlist })]
    },
    goals: (p) => [
      created('music.playlists', { open: true }),
      created('music.entries', { playlist: p.playlist, song: p.song }),
    ],
  }),
  defineTask({
    id: 'music.follow',
    apps: ['music'],
    draw: (d) => ({ artist: d.artist(), song: d.song() }),
    texts: ['Follow {artist}.', 'I want to follow the artist {artist}.'],
    setup: (w, p) => seedSong(w, p.song, p.artist),
    solve: function* (p): Solution {
      yield [call('music.search', { artist: p.artist })]
      yield [call('music.follow', { artist: p.artist })]
    },
    goals: (p) => [created('music.followed', { artist: p.artist })],
  }),
  defineTask({
    id: 'music.unfollow',
    apps: ['music'],
    draw: (d) => ({ artist: d.artist() }),
    texts: ['Unfollow {artist}.', 'Stop following {artist}.'],
    setup: (w, p) => {
      // An artist exists through a song: without one nobody could follow again.
      seedSong(w, `best of ${p.artist}`, p.artist)
      w.state(music).followed.seed({ artist: p.artist }, p.artist)
    },
    solve: function* (p): Solution {
      yield [call('music.unfollow', { artist: p.artist })]
    },
    goals: (p) => [removed('music.followed', { artist: p.artist })],
  }),
  defineTask({
    id: 'music.play',
    apps: ['music'],
    draw: (d) => ({ song: d.song(), artist: d.artist() }),
    texts: ['Play {song} by {artist}.', 'Start {song} of {artist} now.'],
    setup: (w, p) => seedSong(w, p.song, p.artist),
    solve: function* (p): Solution {
      yield [call('music.search', { artist: p.artist })]
      yield [call('music.play', { song: p.song })]
    },
    goals: (p) => [changed('music.player', {}, { song: p.song })],
  }),
]
