import { describe, expect, it } from 'vitest'
import { nodeIds } from '../../../data/records/node.ts'
import { isExactlyRight } from '../../../judge/accuracy.ts'
import { shortened } from '../../../judge/audit/twins.ts'
import { suites } from './support.ts'

const twins = suites.flatMap((suite) => suite.twins)

describe('the twins that come with the package', () => {
  it('are at least fifty, with names of their own', () => {
    expect(twins.length).toBeGreaterThanOrEqual(50)
    expect(new Set(twins.map(({ id }) => id)).size).toBe(twins.length)
  })

  it.each(suites.map((suite) => [suite.name, suite] as const))('%s has three or more of every node', (_, suite) => {
    for (const node of nodeIds)
      expect(suite.twins.filter(({ prompt }) => prompt.node === node).length).toBeGreaterThanOrEqual(3)
    for (const { plain, doctored } of suite.twins) expect(doctored).not.toBe(plain)
  })

  it('have targets, so that judges can be compared on them', () => {
    expect(twins.filter(({ prompt }) => prompt.target === null)).toStrictEqual([])
  })

  it('call right what is right', () => {
    const ladder = suites.find(({ name }) => name === 'right_over_wrong')
    for (const { id, prompt, plain, doctored } of ladder?.twins ?? [])
      expect([id, isExactlyRight(prompt, plain), isExactlyRight(prompt, doctored)]).toStrictEqual([id, false, true])
  })

  it('are one of each node in each suite in the short form', () => {
    for (const suite of suites.map(shortened))
      expect(suite.twins.map(({ prompt }) => prompt.node)).toStrictEqual([...nodeIds])
    const variants = suites.map(shortened).map((suite) => new Set(suite.twins.map(({ variant }) => variant)).size)
    expect(Math.max(...variants)).toBeGreaterThan(1)
  })
})
