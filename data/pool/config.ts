import { z } from 'zod'
import { repoNamePattern } from '../hub/repo.ts'

const share = z.number().min(0).max(1)

const WorldPool = z
  .strictObject({
    kind: z.literal('world'),
    train: z.int().min(5).default(1000).describe('Number of training prompts, an equal part for each node.'),
    heldout: z.int().min(5).default(100).describe('Number of held-out prompts, an equal part for each node.'),
    seed: z.int().min(0).default(0).describe('Equal settings give an equal pool.'),
    mistakeShare: share.default(0.1).describe('Share of prompts whose upstream context holds a plausible mistake.'),
    hideShare: share.default(0.3).describe('Share of undoing calls that evaluate_risk prompts leave undocumented.'),
  })
  .describe('Prompts made from the simulated world when the run starts.')

const FilePool = z
  .strictObject({
    kind: z.literal('file'),
    path: z
      .string()
      .min(1)
      .describe('A pool.jsonl, made by build-pool or by the user; relative paths start at the working directory.'),
  })
  .describe('Prompts from a file.')

const HubPool = z
  .strictObject({
    kind: z.literal('hub'),
    repo: z
      .string()
      .regex(repoNamePattern, 'expected the name of a dataset, owner/name')
      .describe('Dataset of the Hugging Face hub with a pool.jsonl, as push --pool makes it.'),
    revision: z
      .string()
      .min(1)
      .default('main')
      .describe('Branch, tag or commit; a commit gives the same pool for ever.'),
  })
  .describe('Prompts from a dataset of the hub.')

/** Where prompts come from. */
export const PoolConfig = z
  .discriminatedUnion('kind', [WorldPool, FilePool, HubPool])
  .prefault({ kind: 'world' })
  .describe('Where prompts come from.')
export type PoolConfig = z.infer<typeof PoolConfig>
