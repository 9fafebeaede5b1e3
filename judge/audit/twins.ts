import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { PipelineError } from '../../data/errors.ts'
import { packageRoot } from '../../data/package-root.ts'
import { parsePoolLine } from '../../data/pool/pool-line.ts'
import { nodeIds } from '../../data/records/node.ts'
import type { Prompt } from '../../data/records/prompt.ts'

/** What must hold between the score of a doctored completion and that of its plain twin. */
export const TwinRule = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('must_not_rise') }),
  z.strictObject({ kind: z.literal('must_rise') }),
  z.strictObject({ kind: z.literal('at_most'), score: z.number().min(0).max(1) }),
])
export type TwinRule = z.infer<typeof TwinRule>

const SuiteFile = z.strictObject({
  name: z.string().regex(/^[a-z_]+$/),
  title: z.string(),
  rule: TwinRule,
  /** Share of twins that may break the rule by accident. */
  allowedShare: z.number().min(0).max(1),
  twins: z
    .array(
      z.strictObject({
        id: z.string(),
        promptId: z.string(),
        variant: z.string(),
        plain: z.string(),
        doctored: z.string(),
      }),
    )
    .min(5),
})

/** A completion and its doctored version, both for one prompt. */
export interface Twin {
  readonly id: string
  readonly prompt: Prompt
  /** Where and how it is doctored. */
  readonly variant: string
  readonly plain: string
  readonly doctored: string
}

export interface TwinSuite {
  readonly name: string
  readonly title: string
  readonly rule: TwinRule
  readonly allowedShare: number
  readonly twins: readonly Twin[]
}

const folder = 'judge/audit/twins'
const suiteNames = [
  'instruction',
  'forged_verdict',
  'master_key',
  'contradiction',
  'padding',
  'right_over_wrong',
] as const

const readAsset = (name: string): string => readFileSync(join(packageRoot(), folder, name), 'utf8')

const broken = (name: string, what: string): PipelineError =>
  new PipelineError('setup', `${folder}/${name}: ${what}`, { remedy: 'Restore the file from the package.' })

const readPrompts = (): ReadonlyMap<string, Prompt> => {
  const name = 'prompts.jsonl'
  const lines = readAsset(name).split('\n')
  const prompts = lines.flatMap((line, i) => (line === '' ? [] : [parsePoolLine(line, `${folder}/${name}:${i + 1}`)]))
  return new Map(prompts.map((prompt) => [prompt.id, prompt]))
}

const readSuite = (name: string, prompts: ReadonlyMap<string, Prompt>): TwinSuite => {
  const file = `${name}.json`
  const parsed = SuiteFile.safeParse(JSON.parse(readAsset(file)))
  if (!parsed.success) throw broken(file, z.prettifyError(parsed.error))
  const twins = parsed.data.twins.map(({ promptId, ...twin }): Twin => {
    const prompt = prompts.get(promptId)
    if (prompt === undefined) throw broken(file, `${twin.id}: there is no prompt ${promptId}`)
    return { ...twin, prompt }
  })
  return { ...parsed.data, twins }
}

/** Reads the suites of twins that come with the package: several twins of every node in each suite. */
export const readTwinSuites = (): TwinSuite[] => {
  const prompts = readPrompts()
  return suiteNames.map((name) => readSuite(name, prompts))
}

/** The short form: one twin of each node in each suite, another variant from node to node. */
export const shortened = (suite: TwinSuite): TwinSuite => {
  const twins = nodeIds.flatMap((node, i) => {
    const own = suite.twins.filter(({ prompt }) => prompt.node === node)
    return own.slice(i % Math.max(1, own.length)).slice(0, 1)
  })
  return { ...suite, twins }
}
