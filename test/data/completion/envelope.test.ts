import { describe, expect, it } from 'vitest'
import { parseEnvelope } from '../../../data/completion/envelope.ts'

const strict = '<reasoning>\nbecause\n</reasoning>\n<answer>\n{}\n</answer>'

describe('parseEnvelope', () => {
  it('gives the two bodies of an ordered envelope', () => {
    expect(parseEnvelope(strict)).toStrictEqual({
      counts: [1, 1, 1, 1],
      trailing: '',
      body: { reasoning: '\nbecause\n', answer: '\n{}\n', adjacent: true, strict: true },
    })
  })

  it.each([
    ['a second closing tag', `${strict}\n</answer>`],
    ['a second block', `${strict}${strict}`],
    ['a tag quoted in the reasoning', strict.replace('because', 'the <answer> says so')],
    ['the blocks swapped', '<answer>\n{}\n</answer>\n<reasoning>\nbecause\n</reasoning>'],
    ['a missing tag', strict.replace('</answer>', '')],
    ['upper case', strict.replace('answer', 'ANSWER')],
    ['an attribute', strict.replace('<answer>', '<answer type="json">')],
    ['a space in a tag', strict.replace('</answer>', '</answer >')],
  ])('has no body with %s', (_, text) => {
    expect(parseEnvelope(text).body).toBeNull()
  })

  it.each([
    ['text in front', `x${strict}`],
    ['two line feeds after it', `${strict}\n\n`],
    ['a carriage return', strict.replaceAll('\n', '\r\n')],
    ['no line feed after a tag', strict.replace('<answer>\n', '<answer>')],
    ['one line feed for both ends', strict.replace('\n{}\n', '\n')],
    ['blank reasoning', strict.replace('because', ' \t')],
    ['a blank line between the blocks', strict.replace('\n<answer>', '\n\n<answer>')],
  ])('is not strict with %s', (_, text) => {
    expect(parseEnvelope(text).body).toMatchObject({ strict: false, adjacent: true })
  })

  it('is not adjacent with text between the blocks, and finds text after the last closing tag', () => {
    const text = `${strict.replace('\n<answer>', 'so <answer>')} <|im_end|> `
    expect(parseEnvelope(text)).toMatchObject({ trailing: '<|im_end|>', body: { adjacent: false } })
  })

  it('keeps multi-line reasoning whole', () => {
    expect(parseEnvelope(strict.replace('because', 'one\ntwo\n\nthree')).body).toMatchObject({
      reasoning: '\none\ntwo\n\nthree\n',
      strict: true,
    })
  })
})
