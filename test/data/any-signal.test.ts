import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { anySignal } from '../../data/any-signal.ts'

describe('a signal made of several', () => {
  it('is aborted with the first of them, for its reason', () => {
    const [first, second] = [new AbortController(), new AbortController()]
    const { signal } = anySignal([first.signal, undefined, second.signal])
    expect(signal.aborted).toBe(false)
    second.abort(new Error('enough'))
    first.abort(new Error('too late'))
    expect(signal.reason).toEqual(new Error('enough'))
  })

  it('is aborted at once where one is aborted already', () => {
    const { signal } = anySignal([new AbortController().signal, AbortSignal.abort('before')])
    expect(signal.reason).toBe('before')
  })

  it('leaves nothing behind in them once it is released', () => {
    const run = new AbortController()
    const many = Array.from({ length: 100 }, () => anySignal([run.signal]))
    expect(getEventListeners(run.signal, 'abort')).toHaveLength(100)
    for (const { release } of many) release()
    expect(getEventListeners(run.signal, 'abort')).toHaveLength(0)
    run.abort()
    expect(many.some(({ signal }) => signal.aborted)).toBe(false)
  })
})
