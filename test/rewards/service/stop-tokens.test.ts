import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultStopTokens, stopTokenCutter } from '../../../rewards/service/stop-tokens.ts'
import { goldCompletions } from '../../judge/samples.ts'
import { appWith, labelOf, post } from './support.ts'

describe('cutting stop tokens', () => {
  const cut = stopTokenCutter(defaultStopTokens)

  it.each([
    ['a<|im_end|>', 'a'],
    ['a<|end_of_text|><|endoftext|><|endoftext|>', 'a'],
    ['<|im_end|>a', '<|im_end|>a'],
    ['a<|im_end|>\n', 'a<|im_end|>\n'],
    ['<|im_end|>', ''],
    ['', ''],
    ['a </s', 'a </s'],
  ])('makes %j of it: %j', (text, expected) => {
    expect(cut(text)).toBe(expected)
  })

  it('cuts only whole tokens of its list, and all of them at the end', () => {
    const piece = fc.oneof(fc.constantFrom(...defaultStopTokens), fc.constantFrom('<', '|', 'im_end', '>', 'x'))
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('')
        const rest = cut(text)
        expect(text.startsWith(rest)).toBe(true)
        expect(defaultStopTokens.some((token) => rest.endsWith(token))).toBe(false)
      }),
    )
  })

  it('cuts what the service was told, and nothing else', async () => {
    const app = appWith({ stopTokens: ['<END>'] })
    const ask = async (end: string) =>
      (await post(app, '/v1/slime', { prompt: 'p', response: `${goldCompletions.n1}${end}`, label: labelOf('n1') }))
        .json
    expect(await ask('<END>')).toBeCloseTo(4.6, 9)
    expect(await ask('<|im_end|>')).toBeLessThan(4.2)
  })
})
