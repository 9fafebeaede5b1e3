import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Passing } from '../support/relay.ts'
import type { Service } from './fleet.ts'

/** Part of an exchange: before it is passed on, after that while it is answered, and when its answer is there. */
export type Stage = 'request' | 'sent' | 'reply'

/** A place in a step where somebody dies: in an exchange with a service, or when a file is there. */
export interface Point {
  /** Phase of the step, as people call it. */
  readonly phase: string
  readonly at: ExchangePoint | FilePoint
}

export interface ExchangePoint {
  readonly kind: 'exchange'
  readonly with: Service
  readonly stage: Stage
  readonly is: (passing: Passing) => boolean
}

export interface FilePoint {
  readonly kind: 'file'
  readonly path: string
  /** What it must contain. */
  readonly text: string
}

const field = (body: unknown, name: string): unknown =>
  typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined

const pad = (number: number): string => String(number).padStart(6, '0')

const exchange = (phase: string, service: Service, stage: Stage, is: ExchangePoint['is']): Point => ({
  ...{ phase: `${phase} (${service}, ${stage})` },
  at: { kind: 'exchange', with: service, stage, is },
})

/** A route of the worker; `step` compares with what its body says: the step of an update, the number in a path. */
const ofWorker = (phase: string, route: string, stage: Stage, number?: number): Point =>
  exchange(phase, 'worker', stage, ({ route: asked, body }) => {
    if (asked !== route) return false
    if (number === undefined) return true
    const path = field(body, 'path')
    return typeof path === 'string' ? path.includes(pad(number)) : field(body, 'step') === number
  })

/** Does a policy's name say this version? */
const isVersion = (body: unknown, version: number): boolean => {
  const name = field(body, 'model') ?? field(body, 'lora_name')
  return typeof name === 'string' && (version === 0 ? name === 'base' : name.endsWith(`-${pad(version)}`))
}

/** Steps sample groups of four, evaluations of three, and a canary one token. */
const completions = (phase: string, n: number) => (stage: Stage, version: number) =>
  exchange(
    `${phase} version ${version}`,
    'sampler',
    stage,
    ({ route, body }) => route === '/v1/completions' && field(body, 'n') === n && isVersion(body, version),
  )

const adapters = (phase: string, route: string) => (stage: Stage, version: number) =>
  exchange(
    `${phase} version ${version}`,
    'sampler',
    stage,
    ({ route: asked, body }) => asked === route && isVersion(body, version),
  )

/** The first contact with a judge has one message only. */
const isQuestion = ({ route, body }: Passing): boolean => {
  const messages = field(body, 'messages')
  return route.endsWith('/chat/completions') && Array.isArray(messages) && messages.length > 1
}

const file = (phase: string, path: string, text = ''): Point => ({ phase, at: { kind: 'file', path, text } })

/** All phases of a run of four steps with checkpoints after the second and the fourth. */
export const at = {
  info: ofWorker('starting', '/info', 'request'),
  tokenizing: ofWorker('reading the pool', '/tokenize', 'sent'),
  opening: (stage: Stage) => ofWorker('opening the session', '/session', stage),
  restoring: (stage: Stage) => ofWorker('restoring a checkpoint', '/state/load', stage),
  proving: completions('proving', 1),
  sampling: completions('sampling from', 4),
  scoring: (stage: Stage) => exchange('scoring', 'judge', stage, isQuestion),
  updating: (stage: Stage, step: number) => ofWorker(`updating at step ${step}`, '/update', stage, step),
  saving: (stage: Stage, version: number) => ofWorker(`saving version ${version}`, '/adapters', stage, version),
  loading: adapters('publishing', '/v1/load_lora_adapter'),
  unloading: adapters('unloading', '/v1/unload_lora_adapter'),
  listing: (stage: Stage) => exchange('listing policies', 'sampler', stage, ({ route }) => route === '/v1/models'),
  checkpointing: (stage: Stage, step: number) => ofWorker(`checkpointing step ${step}`, '/state/save', stage, step),
  evaluating: completions('evaluating', 3),
  rollouts: (step: number) => file(`rollouts of step ${step} written`, `rollouts/step-${pad(step)}.jsonl`),
  update: (step: number) => file(`update of step ${step} written`, `updates/step-${pad(step)}.json`),
  metrics: (step: number) => file(`metrics of step ${step} written`, 'metrics.jsonl', `"step":${step},`),
  halfCheckpoint: (step: number) =>
    file(`worker's half of checkpoint ${step} written`, `checkpoints/step-${pad(step)}/worker`),
  checkpoint: (step: number) => file(`checkpoint ${step} written`, `checkpoints/step-${pad(step)}/loop.json`),
  evaluation: file('evaluation half written', 'eval/final/base.jsonl'),
  computing: (step: number) => file(`computing the update of step ${step}`, 'logs/worker.log', `step ${step} from`),
} as const

/** Is a file point reached? Counts only what was written after the first `from` characters of a growing file. */
export const isThere = (root: string, { path, text }: Pick<FilePoint, 'path' | 'text'>, from = 0): boolean => {
  const full = join(root, path)
  if (!existsSync(full)) return false
  return text === '' || readFileSync(full, 'utf8').slice(from).includes(text)
}
