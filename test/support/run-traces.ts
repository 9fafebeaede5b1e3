import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { EvaluationSummary, RolloutRecord } from '../../data/records/run.ts'
import { StepMetrics } from '../../data/records/metrics.ts'

const filesBelow = (directory: string): string[] =>
  readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    return entry.isDirectory() ? filesBelow(path) : [path]
  })

/** Files that only ever grow, where a writer may have died inside the last line. */
const growing = /^(metrics|events|attempts)\.jsonl$/

const parses = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/**
 * Files of a run that somebody could read half: JSON that does not parse, lines that do not, safetensors that are shorter
 * than they say. Temporary files are nobody's.
 */
export const halfFiles = (root: string): string[] =>
  filesBelow(root)
    .map((path) => relative(root, path))
    .filter((path) => !/(^|\/)\.[^/]*\.tmp(\/|$)/.test(path) && !path.startsWith('checkpoints/'))
    .filter((path) => {
      if (path.endsWith('.json')) return !parses(readFileSync(join(root, path), 'utf8'))
      if (!path.endsWith('.jsonl')) return false
      const lines = readFileSync(join(root, path), 'utf8').split('\n')
      const last = lines.pop() ?? ''
      return lines.some((line) => !parses(line)) || (last !== '' && !growing.test(path))
    })

const readLines = (path: string): unknown[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)

/** Names of policies carry run and attempt; a verdict may come from the judge or from the cache. */
const isIncidental =
  /^(at|attempt|latencyMs|cached|seconds|policyName|trainedName|directory|step_time|time\/.*|worker\/.*|judge\/.*)$/

const withoutIncidents = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutIncidents)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([key]) => !isIncidental.test(key))
  return Object.fromEntries(kept.map(([key, one]) => [key, withoutIncidents(one)]))
}

const steps = (root: string, folder: string): string[] => readdirSync(join(root, folder)).toSorted()

/** All that two runs which compute the same have in common. */
export const tracesOf = (root: string): unknown => {
  const status = JSON.parse(readFileSync(join(root, 'status.json'), 'utf8')) as { state: string; adapter: string }
  const adapter = readFileSync(join(root, status.adapter, 'adapter_model.safetensors'))
  const rollouts = steps(root, 'rollouts').map((name) => [
    name,
    readLines(join(root, 'rollouts', name)).map((line) => RolloutRecord.parse(line)),
  ])
  const metrics = readLines(join(root, 'metrics.jsonl')).map((line) => StepMetrics.parse(line))
  const summary = EvaluationSummary.parse(JSON.parse(readFileSync(join(root, 'eval/final/summary.json'), 'utf8')))
  return {
    state: status.state,
    steps: metrics.map(({ step }) => step),
    metrics: withoutIncidents(metrics),
    rollouts: withoutIncidents(rollouts),
    updates: steps(root, 'updates'),
    evaluation: withoutIncidents(summary),
    adapter: createHash('sha256').update(adapter).digest('hex'),
    locked: existsSync(join(root, 'lock.json')),
  }
}
