import { createHash } from 'node:crypto'
import { inTurn } from '../../data/pool/in-turn.ts'
import type { BoundPrompt } from '../bind-pool.ts'

/** The first `count` held-out prompts, taken from the nodes in turn so that each has its share. Always the same ones. */
export const chooseHeldout = (heldout: readonly BoundPrompt[], count: number): BoundPrompt[] =>
  inTurn(heldout, ({ prompt }) => prompt.node).slice(0, count)

const hashOf = (lines: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(lines.toSorted())).digest('hex')

/** Identity of a set of prompts, whatever their order: their ids, which are hashes of what the model is shown. */
export const promptSetHash = (prompts: readonly BoundPrompt[]): string => hashOf(prompts.map(({ prompt }) => prompt.id))

/** Identity of the ground truth of a set of prompts: a prompt's id says nothing about its target. */
export const targetSetHash = (prompts: readonly BoundPrompt[]): string =>
  hashOf(prompts.map(({ prompt }) => `${prompt.id} ${JSON.stringify(prompt.target)}`))
