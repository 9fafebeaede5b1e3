import type { Split } from '../../records/prompt.ts'
import { reserved } from './reserved.ts'
import {
  artists,
  channels,
  events,
  files,
  folders,
  groups,
  items,
  people,
  playlists,
  songs,
  tags,
  topics,
} from './words.ts'

const all = {
  person: people,
  topic: topics,
  song: songs,
  artist: artists,
  playlist: playlists,
  file: files,
  folder: folders,
  item: items,
  channel: channels,
  group: groups,
  event: events,
  tag: tags,
} as const satisfies Readonly<Record<string, readonly string[]>>

/** Days are the same in both splits: they identify nothing. */
export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const

/** The kinds of identifying values. */
export type ValueKind = keyof typeof all
export const valueKinds = Object.keys(all) as ValueKind[]

const held: ReadonlySet<string> = new Set(Object.values(reserved).flat())

/** Whether a value is reserved for held-out trajectories. */
export const isReserved = (value: string): boolean => held.has(value)

/** Every value, by split and kind. No value is on both sides. */
export const valuesBySplit: Readonly<Record<Split, Readonly<Record<ValueKind, readonly string[]>>>> = {
  train: all,
  heldout: reserved,
}

const everyWord: ReadonlySet<string> = new Set([...Object.values(all).flat(), ...held])

/** Whether a text is some value of the simulated world, of either split. */
export const isValue = (text: string): boolean => everyWord.has(text)

const knownPeople: ReadonlySet<string> = new Set([...people, ...reserved.person])

/** Whether anybody of that name exists in the simulated world. */
export const isPerson = (name: string): boolean => knownPeople.has(name)
