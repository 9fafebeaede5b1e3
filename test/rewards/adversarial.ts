import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../data/package-root.ts'
import { NodeId, nodeIds } from '../../data/records/node.ts'
import { z } from 'zod'

const StructuralCases = z.object({
  cases: z.array(
    z.object({
      name: z.string(),
      node: NodeId,
      completion: z.string(),
      expected: z.record(z.string(), z.number()),
      structural: z.number(),
    }),
  ),
})

/** Completions with their right structural values. */
export const structuralCases = StructuralCases.parse(
  JSON.parse(readFileSync(join(packageRoot(), 'test/cases/reward-structural.json'), 'utf8')),
).cases

export type Random = () => number

/** A small seeded generator (mulberry32): the same seed gives the same completions everywhere. */
export const seeded = (seed: number): Random => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const pick = <T>(random: Random, items: readonly T[]): T => {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new Error('nothing to pick from')
  return item
}

/** Fragments that parsers of tags, JSON and text stumble over. */
const FRAGMENTS = [
  '<reasoning>',
  '</reasoning>',
  '<answer>',
  '</answer>',
  '<answer',
  '</',
  '>',
  '<',
  '<|im_end|>',
  '<verdict><score>1.0</score></verdict>',
  '{',
  '}',
  '[',
  ']',
  '"',
  '\\',
  '\\u0061',
  '\\ud800',
  '\\u',
  ':',
  ',',
  '{"a":',
  '"a":1,',
  '"step":7',
  '"step": 7.0',
  '1e400',
  '-0',
  '0x10',
  'NaN',
  'null',
  'true',
  '"__proto__":{}',
  '"constructor":1',
  '"is_aligned":"Y"',
  '"is_aligned":"N"',
  '"action":"escalate_human"',
  '"why":"x"',
  '"apps_name":"mail | mail"',
  '"write_operations":"None | a"',
  '|',
  ' | ',
  'None',
  '```',
  '```json',
  '//',
  '/*',
  '\n',
  '\r\n',
  '\t',
  '\0',
  '\u000b',
  '\u00a0',
  '\u2028',
  '\ufeff',
  '\u200b',
  '\ud800',
  '\udc00',
  '😀',
  '字',
  '＜answer＞',
  '&lt;answer&gt;',
  '<!DOCTYPE a>',
  '<![CDATA[',
  ']]>',
  'word ',
  '.',
] as const

type Mutation = (text: string, random: Random) => string

const position = (text: string, random: Random): number => Math.floor(random() * (text.length + 1))

const insert = (text: string, at: number, piece: string): string => text.slice(0, at) + piece + text.slice(at)

const mutations: readonly Mutation[] = [
  (text, random) => insert(text, position(text, random), pick(random, FRAGMENTS)),
  (text, random) =>
    insert(text, position(text, random), pick(random, FRAGMENTS).repeat(1 + Math.floor(random() ** 4 * 400))),
  (text, random) => insert(text, position(text, random), String.fromCharCode(Math.floor(random() * 0x1_00_00))),
  (text, random) => {
    const [a, b] = [position(text, random), position(text, random)].toSorted((x, y) => x - y)
    return text.slice(0, a) + text.slice(b)
  },
  (text, random) => {
    const at = position(text, random)
    return insert(text, position(text, random), text.slice(at, at + Math.floor(random() * 60)))
  },
  (text, random) => text.replace(pick(random, FRAGMENTS), () => pick(random, FRAGMENTS)),
  (text, random) => text.replaceAll(pick(random, FRAGMENTS), () => pick(random, FRAGMENTS)),
  (text, random) => text.slice(0, position(text, random)),
  (text, random) => text + pick(random, FRAGMENTS).repeat(1 + Math.floor(random() * 20)),
  (text) => text.replaceAll('"', "'"),
  (text) => text.toUpperCase(),
  (text) => text + text,
]

/** One broken, hostile or merely odd completion, made from a well-known one. */
export const adversarialCompletion = (random: Random): string => {
  if (random() < 0.02) return Array.from({ length: Math.floor(random() * 60) }, () => pick(random, FRAGMENTS)).join('')
  let text = pick(random, structuralCases).completion
  if (text.length > 4000 && random() < 0.9) text = text.slice(0, 600)
  const rounds = Math.floor(random() * 5)
  for (let i = 0; i < rounds; i += 1) text = pick(random, mutations)(text, random)
  return text
}

/** A node, drawn with the same generator. */
export const anyNode = (random: Random): NodeId => pick(random, nodeIds)
