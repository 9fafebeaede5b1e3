import { assert as assertProperty, array, constantFrom, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseCompletion } from '../../../data/completion/parse.ts'
import { JsonNumber, parseJsonObject, type JsonValue } from '../../../data/completion/strict-json.ts'
import { goldCompletions } from '../../judge/samples.ts'
import { damaged, spoilt } from '../../support/spoilt.ts'

const golds = Object.values(goldCompletions)
const answers = golds.map((gold) => JSON.parse(/<answer>([^]*)<\/answer>/.exec(gold)?.[1] ?? '') as unknown)

const plain = (value: JsonValue): unknown => {
  if (value instanceof JsonNumber) return Number(value.text)
  // Defined, not assigned: a key may be __proto__.
  if (value instanceof Map)
    return Object.fromEntries([...(value as ReadonlyMap<string, JsonValue>)].map(([k, v]) => [k, plain(v)]))
  return Array.isArray(value) ? value.map(plain) : value
}

/**
 * What we read and what JSON.parse reads, as text: a key may be __proto__, which a comparison of objects takes for their
 * prototype. Equal where we refuse, if with a short reason.
 */
const bothReadings = (text: string): { read: string; parsed: string } => {
  const result = parseJsonObject(text)
  if (!result.ok) return { read: result.reason.slice(0, 200), parsed: result.reason }
  return { read: JSON.stringify(plain(result.value)), parsed: JSON.stringify(JSON.parse(text.slice(0, result.end))) }
}

describe('a spoilt answer', () => {
  it('is read as JSON.parse reads it, or refused: never another object', () => {
    assertProperty(
      property(spoilt(...answers), (text) => {
        const { read, parsed } = bothReadings(text)
        expect(read).toBe(parsed)
      }),
      { numRuns: 300 },
    )
  })

  it('changes no prototype', () => {
    const result = parseJsonObject('{"__proto__": {"action": "x"}, "constructor": {"prototype": {"action": "x"}}}')
    expect(result.ok && [...result.value.keys()]).toEqual(['__proto__', 'constructor'])
    expect(Reflect.get({}, 'action')).toBeUndefined()
  })
})

describe('a spoilt completion', () => {
  it('is read without an error, and has a body only with each tag once', () => {
    const tags = ['<reasoning>', '</reasoning>', '<answer>', '</answer>']
    const soup = array(constantFrom(...tags, '\n', '{"a":1}', 'x', '<', '\0', '\uD800'), { maxLength: 16 })
    const whole = constantFrom(...golds).chain(damaged)
    assertProperty(
      property(whole, soup, (gold, parts) => {
        for (const text of [gold, parts.join(''), gold + parts.join('')]) {
          const { envelope, answer } = parseCompletion(text)
          expect(envelope.counts).toEqual(tags.map((tag) => text.split(tag).length - 1))
          const once = envelope.counts.every((count) => count === 1)
          expect({ body: envelope.body !== null && !once, answer: envelope.body === null && answer.ok }).toEqual({
            ...{ body: false, answer: false },
          })
        }
      }),
      { numRuns: 300 },
    )
  })
})
