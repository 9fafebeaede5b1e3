import { assert as assertProperty, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { closest } from '../../configs/edit-distance.ts'

describe('did you mean', () => {
  it.each([
    ['bta', 'beta'],
    ['trian', 'train'],
    ['cliplow', 'clipLow'],
    ['learningrate', 'learningRate'],
  ])('%s: %s', (word, meant) => {
    expect(closest(word, ['alpha', 'beta', 'train', 'clipLow', 'learningRate'])).toBe(meant)
  })

  it('guesses nothing when nothing is near', () => {
    expect(closest('temperature', ['beta', 'kl'])).toBeUndefined()
    expect(closest('x', [])).toBeUndefined()
  })

  it('finds a word that is there, whatever it is', () => {
    assertProperty(
      property(
        string({ minLength: 1 }),
        (word) => closest(word, ['else', word]) === word || word.toLowerCase() === 'else',
      ),
    )
  })
})
