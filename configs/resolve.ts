import type { z } from 'zod'
import { PipelineError } from '../data/errors.ts'
import { explain, type ConfigIssue } from './issues.ts'
import { inputSchema } from './json-schema.ts'
import { applyOverride, parseOverride, type Override } from './overrides.ts'
import { deepFreeze, leafPaths, pathText, type KeyPath } from './paths.ts'
import { withTableDefaults } from './table-defaults.ts'
import { parseYaml, type YamlSource } from './yaml-source.ts'

/** Where each value of a config came from, by key path: `default`, `file:line:column`, or the flag. */
export type Provenance = Readonly<Record<string, string>>

export interface Resolved<T> {
  readonly config: T
  readonly provenance: Provenance
}

export interface ConfigText {
  /** Name of the file, for messages. */
  readonly name: string
  readonly text: string
}

const isOver = (above: KeyPath, path: KeyPath): boolean => above.every((key, i) => String(key) === String(path[i]))

/** The last override that decides the value at a path, or holds it. */
const overrideOf = (overrides: readonly Override[], path: KeyPath): Override | undefined =>
  overrides.findLast((override) => isOver(override.path, path))

/** What is wrong, and where: a place in the file, or the flag. */
interface Problem {
  readonly where: string
  readonly isFlag: boolean
  readonly message: string
}

/** Whoever has more than this is helped by the first ones. */
const mostShown = 20

/** Flags are not the file's fault. */
const titleOf = (name: string, problems: readonly Problem[]): string => {
  const flags = problems.filter(({ isFlag }) => isFlag).length
  if (flags === problems.length) return 'the command line'
  return flags === 0 ? name : `${name} with the command line`
}

const fail = (name: string, problems: readonly Problem[]): never => {
  const lines = [...new Set(problems.map(({ where, message }) => `${where}  ${message}`))]
  const count = lines.length === 1 ? '1 problem' : `${lines.length} problems`
  const more = lines.length > mostShown ? [`… and ${lines.length - mostShown} more`] : []
  const shown = [...lines.slice(0, mostShown), ...more].map((line) => `  ${line}`).join('\n')
  throw new PipelineError('config', `${titleOf(name, problems)} has ${count}:\n${shown}`, {
    remedy: 'Correct them and start again; drift-grpo schema prints all keys that a config may have.',
  })
}

/** The override that made this issue: it set the value or a map around it, or chose the map that now misses a key. */
const culprit = (overrides: readonly Override[], { path, about }: ConfigIssue): Override | undefined => {
  const around = about === 'missing' && path.length > 1 ? path.slice(0, -1) : path
  return overrideOf(overrides, path) ?? overrides.findLast((override) => isOver(around, override.path))
}

const problemOf = (name: string, source: YamlSource, overrides: readonly Override[], issue: ConfigIssue): Problem => {
  const flag = culprit(overrides, issue)?.flag
  return {
    where: flag ?? `${name}:${source.positionOf(issue.path, issue.about)}`,
    isFlag: flag !== undefined,
    message: `${pathText(issue.path) || 'the file'}: ${issue.message}`,
  }
}

const trace = (config: unknown, name: string, source: YamlSource, overrides: readonly Override[]): Provenance =>
  Object.fromEntries(
    leafPaths(config).map((path) => {
      const flag = overrideOf(overrides, path)?.flag
      const file = source.has(path) ? `${name}:${source.positionOf(path, 'value')}` : undefined
      return [pathText(path), flag ?? file ?? 'default']
    }),
  )

/**
 * Checks a config text with its overrides against a schema. The result is frozen.
 * @throws PipelineError('config') that lists every problem at once, each with file:line:column or its flag
 */
export const resolveConfig = <T>(schema: z.ZodType<T>, file: ConfigText, sets: readonly string[] = []): Resolved<T> => {
  const source = parseYaml(file.text)
  const parsed = sets.map(parseOverride)
  const overrides = parsed.filter((override) => 'path' in override)
  const badSyntax = [
    ...source.errors.map(({ position, message }) => ({ where: `${file.name}:${position}`, isFlag: false, message })),
    ...parsed.flatMap((override) =>
      'problem' in override ? [{ where: override.flag, isFlag: true, message: override.problem }] : [],
    ),
  ]
  if (badSyntax.length > 0) return fail(file.name, badSyntax)

  // An empty file is an empty map: every value is then the default, or missed by name.
  const known = inputSchema(schema)
  const tree = overrides.reduce<unknown>(
    (before, override) => applyOverride(withTableDefaults(known, before, override.path), override),
    source.value ?? {},
  )
  const result = schema.safeParse(tree)
  if (result.success) {
    return { config: deepFreeze(result.data), provenance: trace(result.data, file.name, source, overrides) }
  }
  const issues = explain(result.error, known, tree)
  return fail(
    file.name,
    issues.map((issue) => problemOf(file.name, source, overrides, issue)),
  )
}
