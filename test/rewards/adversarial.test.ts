import { describe, expect, it } from 'vitest'
import { parseCompletion, type ParsedCompletion } from '../../data/completion/parse.ts'
import { adversarialCompletion, anyNode, seeded } from './adversarial.ts'
import { faultOf } from './invariants.ts'

describe('any string at all', () => {
  it('gets nine finite contributions that sum to a total in range, in both profiles', () => {
    const random = seeded(20_26)
    const faults: string[] = []
    for (let i = 0; i < 20_000; i += 1) {
      const node = anyNode(random)
      const text = adversarialCompletion(random)
      const fault = faultOf(node, text)
      if (fault !== null) faults.push(`${node} ${JSON.stringify(text.slice(0, 300))}: ${fault}`)
    }
    expect(faults).toStrictEqual([])
  }, 120_000)

  it('is reached in all its variety: envelopes, objects and refusals all occur', () => {
    const random = seeded(1)
    const parsed = Array.from({ length: 2000 }, () => parseCompletion(adversarialCompletion(random)))
    const share = (of: (completion: ParsedCompletion) => boolean): number => parsed.filter(of).length / parsed.length
    expect(share(({ answer }) => answer.ok)).toBeGreaterThan(0.1)
    expect(share(({ answer, envelope }) => !answer.ok && envelope.body !== null)).toBeGreaterThan(0.1)
    expect(share(({ envelope }) => envelope.body === null)).toBeGreaterThan(0.1)
    expect(new Set(parsed.map(({ text }) => text)).size).toBeGreaterThan(1000)
  })

  it.each([
    ['opening brackets', '['.repeat(1_000_000)],
    ['opening tags', '<answer>'.repeat(125_000)],
    ['halves of tags', '<answer'.repeat(143_000)],
    ['one endless string', `<reasoning>\na\n</reasoning>\n<answer>\n{"why": "${'x'.repeat(1_000_000)}"}\n</answer>`],
    ['backslashes', `<reasoning>\na\n</reasoning>\n<answer>\n{"why": "${'\\\\'.repeat(500_000)}"}\n</answer>`],
    ['separators', `<reasoning>\na\n</reasoning>\n<answer>\n{"apps_name": "${' | '.repeat(330_000)}"}\n</answer>`],
    ['white space', `<reasoning>${' '.repeat(1_000_000)}</reasoning><answer></answer>`],
    ['trailing text', `<reasoning>\na\n</reasoning>\n<answer>\n{}\n</answer>${' x'.repeat(500_000)}`],
  ])(
    'may be a megabyte of %s',
    (_, text) => {
      for (const node of ['n1', 'n3', 'n5'] as const) expect(faultOf(node, text)).toBeNull()
    },
    60_000,
  )
})
