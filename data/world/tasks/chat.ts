import { chat, memberKey } from '../apps/chat.ts'
import type { Channel } from '../apps/chat.ts'
import type { World } from '../world.ts'
import { call, changed, created, defineTask, removed } from './template.ts'
import type { Solution } from './template.ts'

/** Seeds a channel that the user is in. */
export const seedChannel = (world: World, channel: string, extra: Partial<Channel> = {}): void => {
  world.state(chat).channels.seed({ topic: 'news', muted: false, joined: true, ...extra }, channel)
}

const seedMember = (world: World, channel: string, person: string): void => {
  seedChannel(world, channel)
  world.state(chat).members.seed({ channel, person }, memberKey(channel, person))
}

function* lookThen(channel: string, endpoint: `chat.${string}`): Solution {
  yield [call('chat.read', { channel })]
  yield [call(endpoint, { channel })]
}

export const chatTasks = [
  defineTask({
    id: 'chat.read',
    apps: ['chat'],
    draw: (d) => ({ channel: d.channel(), person: d.person(), text: d.event() }),
    texts: ['What is new in {channel}?', 'Show me the posts in {channel}.'],
    setup: (w, p) => {
      seedChannel(w, p.channel)
      w.state(chat).posts.seed({ channel: p.channel, author: p.person, text: p.text })
    },
    solve: function* (p): Solution {
      yield [call('chat.read', { channel: p.channel })]
    },
  }),
  defineTask({
    id: 'chat.members',
    apps: ['chat'],
    draw: (d) => ({ channel: d.channel(), person: d.person() }),
    texts: ['Who is in the channel {channel}?', 'List the people in {channel}.'],
    setup: (w, p) => seedMember(w, p.channel, p.person),
    solve: function* (p): Solution {
      yield [call('chat.members', { channel: p.channel })]
    },
  }),
  defineTask({
    id: 'chat.post',
    apps: ['chat'],
    draw: (d) => ({ channel: d.channel(), topic: d.topic() }),
    texts: ['Post {topic} in {channel}.', 'Tell the channel {channel} about {topic}.'],
    setup: (w, p) => seedChannel(w, p.channel),
    solve: function* (p): Solution {
      yield [call('chat.post', { channel: p.channel, text: p.topic })]
    },
    goals: (p) => [created('chat.posts', { channel: p.channel, text: p.topic })],
  }),
  defineTask({
    id: 'chat.dm',
    apps: ['chat'],
    draw: (d) => ({ person: d.person(), topic: d.topic() }),
    texts: ['Write {person} a chat message about {topic}.', 'Message {person} about {topic}.'],
    setup: () => undefined,
    solve: function* (p): Solution {
      yield [call('chat.dm', { person: p.person, text: p.topic })]
    },
    goals: (p) => [created('chat.directs', { to: p.person, text: p.topic })],
  }),
  defineTask({
    id: 'chat.topic',
    apps: ['chat'],
    draw: (d) => ({ channel: d.channel(), topic: d.topic() }),
    texts: ['Set the topic of {channel} to {topic}.', 'Let the channel {channel} be about {topic}.'],
    setup: (w, p) => seedChannel(w, p.channel),
    solve: function* (p): Solution {
      yield [call('chat.topic', { channel: p.channel, topic: p.topic })]
    },
    goals: (p) => [changed('chat.channels', { topic: 'news' }, { topic: p.topic })],
  }),
  defineTask({
    id: 'chat.kick',
    apps: ['chat'],
    draw: (d) => ({ channel: d.channel(), person: d.person() }),
    texts: ['Kick {person} out of {channel}.', 'Remove {person} from the channel {channel}.'],
    setup: (w, p) => seedMember(w, p.channel, p.person),
    solve: function* (p): Solution {
      yield [call('chat.members', { channel: p.channel })]
      yield [call('chat.kick', { channel: p.channel, person: p.person })]
    },
    goals: (p) => [removed('chat.members', { channel: p.channel, person: p.person })],
  }),
  defineTask({
    id: 'chat.add',
    apps: ['chat'],
    draw: (d) => ({ channel: d.channel(), person: d.person() }),
    texts: ['Add {person} to the channel {channel}.', 'Bring {person} into {channel}.'],
    setup: (w, p) => seedChannel(w, p.channel),
    solve: function* (p): Solution {
      yield [call('chat.members', { channel: p.channel })]
      yield [call('chat.add', { channel: p.channel, person: p.person })]
    },
    goals: (p) => [created('chat.members', { channel: p.channel, person: p.person })],
  }),
  defineTask({
    id: 'chat.mute',
    apps: ['chat'],
    draw: (d) => ({ channel: d.channel() }),
    texts: ['Mute {channel}.', 'Silence the channel {channel}.'],
    setup: (w, p) => seedChannel(w, p.channel),
    solve: (p) => lookThen(p.channel, 'chat.mute'),
    goals: () => [changed('chat.channels', { muted: false }, { muted: true })],
  }),
  defineTask({
    id: 'chat.unmute',
    apps: ['chat'],
    draw: (d) => ({ channel: d.channel() }),
    texts: ['Unmute {channel}.', 'Let the channel {channel} ring again.'],
    setup: (w, p) => seedChannel(w, p.channel, { muted: true }),
    solve: (p) => lookThen(p.channel, 'chat.unmute'),
    goals: () => [changed('chat.channels', { muted: true }, { muted: false })],
  }),
  defineTask({
    id: 'chat.join',
    apps: ['chat'],
    draw: (d) => ({ channel: d.channel(), topic: d.topic() }),
    texts: ['Join {channel} and post {topic}.', 'Enter the channel {channel}, then post {topic} there.'],
    setup: (w, p) => seedChannel(w, p.channel, { joined: false }),
    solve: function* (p): Solution {
      yield [call('chat.join', { channel: p.channel })]
      yield [call('chat.post', { channel: p.channel, text: p.topic })]
    },
    goals: (p) => [
      changed('chat.channels', { joined: false }, { joined: true }),
      created('chat.posts', { channel: p.channel, text: p.topic }),
    ],
  }),
  defineTask({
    id: 'chat.leave',
    apps: ['chat'],
    draw: (d) => ({ channel: d.channel() }),
    texts: ['Leave {channel}.', 'Take me out of the channel {channel}.'],
    setup: (w, p) => seedChannel(w, p.channel),
    solve: (p) => lookThen(p.channel, 'chat.leave'),
    goals: () => [changed('chat.channels', { joined: true }, { joined: false })],
  }),
]
