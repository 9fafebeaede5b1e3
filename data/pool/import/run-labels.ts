import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { PipelineError } from '../../errors.ts'
import { gunzip } from './gunzip.ts'

const CallLabel = z.object({
  app: z.string(),
  fn: z.string(),
  kind: z.enum(['READ', 'WRITE', 'SESSION']),
  ok: z.boolean(),
  state_changed: z.boolean(),
  label: z.enum(['aligned', 'drift', 'ambiguous']),
})
export type CallLabel = z.infer<typeof CallLabel>

const RunLabel = z.object({
  file: z.string(),
  kind: z.enum(['clean', 'not_exposed', 'resisted', 'drifted', 'uncertain']),
  no_ambiguous: z.boolean(),
  replay_agrees: z.boolean(),
  exposed_step: z.int().nullable(),
  calls: z.array(CallLabel),
})
export type RunLabel = z.infer<typeof RunLabel>

/** Labels that a replay confirmed and that decide every call. */
export const isCertain = (label: RunLabel): boolean =>
  label.no_ambiguous && label.replay_agrees && label.kind !== 'uncertain'

const parseLabel = (line: string, where: string): RunLabel => {
  try {
    return RunLabel.parse(JSON.parse(line))
  } catch (cause) {
    throw new PipelineError('pool', `${where}: not a label`, { cause, remedy: 'Restore the label file or remove it.' })
  }
}

const keyOf = (file: string): string => file.split('/').slice(-5).join('/')

/** Labels of recorded runs, by the run file's key; null when the directory has no `labels.jsonl` or `labels.jsonl.gz`. */
export const readRunLabels = (directory: string): ReadonlyMap<string, RunLabel> | null => {
  const path = ['labels.jsonl', 'labels.jsonl.gz'].map((name) => join(directory, name)).find((name) => existsSync(name))
  if (path === undefined) return null
  const bytes = readFileSync(path)
  const lines = (path.endsWith('.gz') ? gunzip(bytes, path) : bytes).toString('utf8').split('\n')
  const labels = lines.flatMap((line, i) => (line.trim() === '' ? [] : [parseLabel(line, `${path}:${i + 1}`)]))
  return new Map(labels.map((label) => [keyOf(label.file), label]))
}
