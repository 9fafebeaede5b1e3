import { conflict, defineApp, endpointsOf, forbidden, notFound, pageOf, results, undoneBySame } from '../app.ts'
import type { Opening } from '../app.ts'
import { Collection } from '../journal.ts'

export type Channel = { readonly topic: string; readonly muted: boolean; readonly joined: boolean }
export type Post = { readonly channel: string; readonly author: string; readonly text: string }
export type Direct = { readonly to: string; readonly text: string }
export type Member = { readonly channel: string; readonly person: string }

export interface ChatState {
  readonly channels: Collection<Channel>
  readonly posts: Collection<Post>
  readonly directs: Collection<Direct>
  readonly members: Collection<Member>
}

export const memberKey = (channel: string, person: string): string => `${channel}/${person}`

const open = ({ journal, rng, draw }: Opening): ChatState => {
  const state: ChatState = {
    channels: new Collection<Channel>('chat.channels', journal, 'j', 1),
    posts: new Collection<Post>('chat.posts', journal, 'c', rng.int(10, 70)),
    directs: new Collection<Direct>('chat.directs', journal, 'd', rng.int(10, 70)),
    members: new Collection<Member>('chat.members', journal, 'y', 1),
  }
  const count = rng.int(2, 4)
  for (let i = 0; i < count; i++) {
    const channel = state.channels.seed({ topic: draw.topic(), muted: false, joined: rng.chance(0.8) }, draw.channel())
    state.posts.seed({ channel, author: draw.person(), text: draw.event() })
  }
  return state
}

const { read, write } = endpointsOf<ChatState>()

const setMute = (muted: boolean, done: string) => (s: ChatState, a: { readonly channel: string }) => {
  const channel = s.channels.get(a.channel)
  if (channel === undefined) return notFound
  if (channel.muted === muted) return conflict(`already ${done}`)
  s.channels.put(a.channel, { ...channel, muted })
  return `${done} ${a.channel}`
}

const setJoined = (joined: boolean, done: string) => (s: ChatState, a: { readonly channel: string }) => {
  const channel = s.channels.get(a.channel)
  if (channel === undefined) return notFound
  if (channel.joined === joined) return conflict(`already ${done}`)
  s.channels.put(a.channel, { ...channel, joined })
  return `${done} ${a.channel}`
}

/** Channels and direct messages. */
export const chat = defineApp<ChatState>('chat', open, {
  list: read({
    does: 'lists the channels',
    params: { page: 'page' },
    run: (s, a) =>
      pageOf(
        s.channels.entries().map(([name]) => name),
        a.page,
      ),
  }),
  read: read({
    does: 'shows posts of a channel',
    params: { channel: 'text' },
    run: (s, a) => {
      if (s.channels.get(a.channel) === undefined) return notFound
      return results(s.posts.where((p) => p.channel === a.channel).map(([id, p]) => `${id} ${p.author}: ${p.text}`))
    },
  }),
  members: read({
    does: 'lists members of a channel',
    params: { channel: 'text' },
    run: (s, a) => {
      if (s.channels.get(a.channel) === undefined) return notFound
      return results(s.members.where((m) => m.channel === a.channel).map(([, m]) => m.person))
    },
  }),
  post: write({
    does: 'posts to a channel',
    params: { channel: 'text', text: 'text' },
    run: (s, a) => {
      const channel = s.channels.get(a.channel)
      if (channel === undefined) return notFound
      if (!channel.joined) return forbidden('not a member')
      s.posts.add({ channel: a.channel, author: 'me', text: a.text })
      return `posted in ${a.channel}`
    },
  }),
  dm: write({
    does: 'writes to a person',
    params: { person: 'person', text: 'text' },
    run: (s, a) => {
      s.directs.add({ to: a.person, text: a.text })
      return `message sent to ${a.person}`
    },
  }),
  topic: write({
    does: 'sets the topic of a channel',
    params: { channel: 'text', topic: 'text' },
    run: (s, a) => {
      const channel = s.channels.get(a.channel)
      if (channel === undefined) return notFound
      if (channel.topic === a.topic) return conflict('same topic')
      s.channels.put(a.channel, { ...channel, topic: a.topic })
      return `topic of ${a.channel} set`
    },
  }),
  kick: write({
    does: 'removes a member, who is told',
    params: { channel: 'text', person: 'person' },
    run: (s, a) => {
      const key = memberKey(a.channel, a.person)
      if (s.members.get(key) === undefined) return notFound
      s.members.remove(key)
      return `kicked ${a.person} from ${a.channel}`
    },
  }),
  add: write({
    does: 'adds a member, who is told',
    params: { channel: 'text', person: 'person' },
    run: (s, a) => {
      if (s.channels.get(a.channel) === undefined) return notFound
      const key = memberKey(a.channel, a.person)
      if (s.members.get(key) !== undefined) return conflict('already a member')
      s.members.add({ channel: a.channel, person: a.person }, key)
      return `added ${a.person} to ${a.channel}`
    },
  }),
  mute: write({
    does: 'silences a channel',
    params: { channel: 'text' },
    run: setMute(true, 'muted'),
    undo: undoneBySame('unmute'),
  }),
  unmute: write({
    does: 'lets a channel ring again',
    params: { channel: 'text' },
    run: setMute(false, 'unmuted'),
    undo: undoneBySame('mute'),
  }),
  join: write({
    does: 'enters an open channel',
    params: { channel: 'text' },
    run: setJoined(true, 'joined'),
    undo: undoneBySame('leave'),
  }),
  leave: write({
    does: 'leaves a channel',
    params: { channel: 'text' },
    run: setJoined(false, 'left'),
    undo: undoneBySame('join'),
  }),
})
