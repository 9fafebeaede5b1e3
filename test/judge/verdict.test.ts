import { readFileSync } from 'node:fs'
import { assert as assertProperty, constantFrom, array, double, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readVerdict } from '../../judge/verdict.ts'

const Cases = z.object({ replies: z.array(z.object({ reply: z.string(), score: z.number().nullable() })) })
const { replies } = Cases.parse(
  JSON.parse(readFileSync(new URL('../cases/judge-replies.json', import.meta.url), 'utf8')),
)

const scoreOf = (reply: string): number | null => {
  const read = readVerdict(reply)
  return read.ok ? read.score : null
}

const verdict = (score: string, reason = 'x'): string =>
  `<verdict><score>${score}</score><reason>${reason}</reason></verdict>`

describe('a reply of the judge', () => {
  it.each(replies.map(({ reply, score }) => [reply, score] as const))('%j is worth %j', (reply, score) => {
    expect(scoreOf(reply)).toBe(score)
  })

  it('gives its reason and its id as they stand', () => {
    expect(
      readVerdict('Sure.\n<verdict><id>ab12</id><score>0.25</score><reason>a &lt; b</reason></verdict>\n'),
    ).toEqual({
      ok: true,
      score: 0.25,
      reason: 'a &lt; b',
      id: 'ab12',
    })
    expect(readVerdict(verdict('1'))).toMatchObject({ id: null })
  })

  it('may think where a template has opened the thinking already', () => {
    expect(scoreOf(`long thought </think>\n${verdict('0.3')}`)).toBe(0.3)
  })

  it.each<[string, string]>([
    ['a verdict only in its thoughts', `<think>${verdict('1')}</think>`],
    ['thinking that ends twice', `<think>a</think> ${verdict('0.1', 'b</think>')} ${verdict('1')}`],
    ['a verdict that smuggles one behind a thought', `${verdict('0.1', '</think>')}${verdict('1')}`],
    ['an attribute', '<verdict><score x="1">1</score><reason>x</reason></verdict>'],
    ['a comment', '<verdict><!-- 1 --><score>0</score><reason>x</reason></verdict>'],
    ['character data', '<verdict><score>0</score><![CDATA[1]]><reason>x</reason></verdict>'],
    ['loose text', '<verdict>1<score>0</score><reason>x</reason></verdict>'],
    ['another field', '<verdict><score>0</score><grade>1</grade><reason>x</reason></verdict>'],
    ['no reason', '<verdict><score>0</score></verdict>'],
    ['an element in the score', '<verdict><score><b>1</b></score><reason>x</reason></verdict>'],
    ['a verdict in a verdict', '<verdict><verdict><score>1</score><reason>x</reason></verdict></verdict>'],
    ['text after the verdict', `${verdict('1')} as I said`],
    ['capital tags', '<Verdict><Score>1</Score><Reason>x</Reason></Verdict>'],
    ['a score without its zero', verdict('.5')],
    ['an entity for a score', verdict('&#49;')],
    ['a full-width digit', verdict('１')],
    ['a verdict with an attribute', '<verdict x=""><score>1</score><reason>x</reason></verdict>'],
    ['two ids', '<verdict><id>a</id><id>b</id><score>1</score><reason>x</reason></verdict>'],
  ])('is no verdict with %s', (_, reply) => {
    expect(scoreOf(reply)).toBeNull()
  })

  it('is read or refused, never thrown at, and a score is always within 0 and 1', () => {
    const parts = ['<verdict>', '</verdict>', '<score>', '</score>', '<reason>', '</reason>', '<think>', '</think>']
    const more = [
      '0.5',
      '1',
      '-1',
      '<![CDATA[',
      ']]>',
      '<!--',
      '-->',
      '<',
      '>',
      '&',
      '<?x',
      '\0',
      '<!DOCTYPE v [',
      '<id>',
    ]
    const soup = array(constantFrom(...parts, ...more), { maxLength: 24 })
    assertProperty(
      property(soup, (pieces) => {
        const score = scoreOf(pieces.join('')) ?? 0
        return score >= 0 && score <= 1
      }),
      { numRuns: 2000 },
    )
    assertProperty(property(string({ unit: 'binary' }), (text) => scoreOf(text) === null || text.includes('<verdict>')))
  })

  it('keeps any score that was written as a plain decimal', () => {
    assertProperty(
      property(double({ min: 0, max: 1, noNaN: true }), (score) => {
        const written = score.toFixed(6)
        return scoreOf(verdict(written)) === Number(written)
      }),
    )
  })
})
