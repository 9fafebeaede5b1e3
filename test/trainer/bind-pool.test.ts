import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkPoolSize, tokenizePool } from '../../trainer/bind-pool.ts'
import { chooseCanaries, meanDifference } from '../../trainer/canary.ts'
import type { Learner } from '../../trainer/learner.ts'
import { findModel, resolveModel } from '../../trainer/services.ts'
import { shortPool, temporaryDirectory, tinyConfig } from '../support/tiny-training.ts'

/** A tokenizer that makes as many tokens as it is told, by the order of prompts. */
const learnerOf = (lengths: readonly number[]): Learner =>
  ({
    tokenize: async (prompts: readonly unknown[]) =>
      prompts.map((_, i) => Array.from({ length: lengths[i] ?? 1 }, (__, j) => j)),
  }) as unknown as Learner

describe('binding a pool to a model', () => {
  it('refuses prompts above the limit, lists them, and cuts nothing', async () => {
    const pool = shortPool(3, 2)
    const bound = await tokenizePool(pool, learnerOf([10, 11, 9, 30, 4]), 10)
    expect(bound.train.map(({ tokenIds }) => tokenIds.length)).toEqual([10, 9])
    expect(bound.heldout.map(({ tokenIds }) => tokenIds.length)).toEqual([4])
    expect(bound.refused.map(({ id, tokens }) => [id, tokens])).toEqual([
      [pool[3]?.id, 30],
      [pool[1]?.id, 11],
    ])
  })

  it('fails when nothing is left to train on', async () => {
    await expect(tokenizePool(shortPool(2, 1), learnerOf([50, 50, 1]), 10)).rejects.toMatchObject({
      boundary: 'pool',
      message: 'all training prompts are longer than 10 tokens',
    })
    await expect(tokenizePool(shortPool(0, 1), learnerOf([1]), 10)).rejects.toThrow('no training prompts')
  })
})

describe('canaries', () => {
  it('are the end of the shortest prompt, whatever the order of the pool', async () => {
    const { train } = await tokenizePool(shortPool(4, 0), learnerOf([90, 70, 200, 71]), 1000)
    expect(chooseCanaries(train).map((ids) => ids.length)).toEqual([32])
    expect(chooseCanaries(train.toReversed())).toEqual(chooseCanaries(train))
  })

  it('differ by the mean over all tokens', () => {
    expect(meanDifference([[-1, -2], [-3]], [[-1, -1], [-5]])).toBe(1)
    expect(meanDifference([[-1, -2]], [[-1]])).toBeNaN()
  })
})

describe('model paths', () => {
  it('are directories from the working directory, or hub names', () => {
    const directory = temporaryDirectory()
    expect(resolveModel('.', directory)).toBe(directory)
    expect(resolveModel('ibm-granite/granite-3.3-2b-instruct', directory)).toBe('ibm-granite/granite-3.3-2b-instruct')
    expect(() => resolveModel('./missing', directory)).toThrow(/no directory \.\/missing/)
    expect(() => resolveModel('missing', directory)).toThrow(/model\.path/)
  })

  it('as a misspelt path below a directory that is there is no hub name; the error says where it was looked for', () => {
    const directory = temporaryDirectory()
    mkdirSync(join(directory, 'models', 'mine'), { recursive: true })
    writeFileSync(join(directory, 'a-file'), '')
    const looked = new RegExp(`no directory models/mime .*${join(directory, 'models', 'mime')}`)
    expect(() => resolveModel('models/mime', directory)).toThrow(looked)
    expect(() => resolveModel('data/tiny-bse', directory)).toThrow(/no directory data\/tiny-bse/)
    expect(() => resolveModel('a-file', directory)).toThrow(/no directory a-file/)
    expect(findModel('owner/model', directory)).toMatchObject({ kind: 'hub', location: 'owner/model' })
    expect(findModel('owner/model', directory).lookedIn).toContain(join(directory, 'owner', 'model'))
  })
})

describe('the size of a pool', () => {
  const config = tinyConfig('m', 'r', { evaluation: { prompts: 4 }, sampling: { promptsPerStep: 3 } })

  it('is no news when it is enough', () => {
    expect(checkPoolSize({ train: 3, heldout: 4 }, config)).toEqual([])
  })

  it('is said when steps or the evaluation come out smaller than asked for', () => {
    expect(checkPoolSize({ train: 2, heldout: 3 }, config)).toEqual([
      'the pool has 2 training prompts: a step has fewer than sampling.promptsPerStep (3)',
      'the pool has 3 held-out prompts: the evaluation has fewer than evaluation.prompts (4)',
    ])
  })

  it('is an error when there is nothing that the wanted evaluation could use', () => {
    expect(() => checkPoolSize({ train: 9, heldout: 0 }, config)).toThrow('the pool has none that can be used')
    const during = tinyConfig('m', 'r', { evaluation: { atEnd: false, every: 2 } })
    expect(() => checkPoolSize({ train: 9, heldout: 0 }, during)).toThrow('evaluation.every wants held-out prompts')
    const without = tinyConfig('m', 'r', { evaluation: { atEnd: false } })
    expect(checkPoolSize({ train: 9, heldout: 0 }, without)).toEqual([])
  })
})
