import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { processStart } from '../../trainer/lock.ts'
import { Nursery } from '../support/nursery.ts'
import { startStub, type Stub } from '../support/stub-training.ts'
import { Relay } from '../support/relay.ts'
import { startProgram, type Started } from '../support/run-program.ts'
import { temporaryDirectory } from '../support/tiny-training.ts'

/** Everybody who can be killed beside the orchestrator. */
export const services = ['worker', 'sampler', 'judge'] as const
export type Service = (typeof services)[number]

/** A process that can be killed. */
interface Member {
  readonly pid: number
  /** Resolves when it has ended. */
  readonly ended: Promise<unknown>
}

/** Starts a worker, or a second one that only samples. */
type StartPython = (service: 'worker' | 'sampler') => Promise<Member & { url: string; token?: string }>

/** Workers with a real model, from one process that has imported everything. */
const realWorkers = (model: string): { start: StartPython; close: () => Promise<void> } => {
  const nursery = new Nursery()
  return { start: (service) => nursery.start(service, model), close: () => nursery.close() }
}

/** Workers that follow the protocol without a model. */
const stubWorkers = (): { start: StartPython; close: () => Promise<void> } => {
  const started: Stub[] = []
  const start = async (): Promise<Stub> => {
    const stub = await startStub()
    started.push(stub)
    return stub
  }
  return { start, close: async () => void (await Promise.all(started.map((stub) => stub.close()))) }
}

/**
 * The processes that a training is attached to, each behind a relay: a worker, a second one that only samples, and a judge.
 * Who is killed can be replaced; the addresses stay.
 */
export class Fleet {
  readonly relays: Readonly<Record<Service, Relay>>
  readonly #members = new Map<Service, Member>()
  readonly #workers: ReturnType<typeof realWorkers>

  private constructor(relays: Record<Service, Relay>, workers: ReturnType<typeof realWorkers>) {
    this.relays = relays
    this.#workers = workers
  }

  /** With the model of a directory, or, without one, with stubs. */
  static async start(model: string | null): Promise<Fleet> {
    const [worker, sampler, judge] = await Promise.all(services.map(() => Relay.start()))
    if (worker === undefined || sampler === undefined || judge === undefined) throw new Error('no relay')
    const fleet = new Fleet({ worker, sampler, judge }, model === null ? stubWorkers() : realWorkers(model))
    await Promise.all(services.map((service) => fleet.revive(service)))
    return fleet
  }

  /** Puts a new process in the place of one that is dead or not wanted any more. */
  async revive(service: Service): Promise<void> {
    if (this.relays[service].target !== null) await this.kill(service)
    if (service === 'judge') return await this.#startJudge()
    const { pid, url, token, ended } = await this.#workers.start(service)
    this.#members.set(service, { pid, ended })
    this.relays[service].target = { url, token }
  }

  /** SIGKILL; resolves when the process is gone. Nobody answers at its relay until it is revived. */
  async kill(service: Service): Promise<void> {
    const member = this.#members.get(service)
    if (member === undefined) throw new Error(`${service} does not run`)
    this.relays[service].target = null
    process.kill(member.pid, 'SIGKILL')
    await member.ended
  }

  async close(): Promise<void> {
    if (this.relays.judge.target !== null) await this.kill('judge')
    await this.#workers.close()
    await Promise.all(services.map((service) => this.relays[service].close()))
  }

  async #startJudge(): Promise<void> {
    const { child, said, ended } = startProgram('test/support/judge-process.ts', [])
    const url = /judge at (\S+)/.exec(await said('judge at '))?.[1] ?? ''
    this.#members.set('judge', { pid: child.pid ?? 0, ended })
    this.relays.judge.target = { url }
  }
}

/** A process by its number and its start: the number alone may be another's by now. */
export interface Seen {
  readonly pid: number
  readonly start: string
}

export const see = (pid: number): Seen => ({ pid, start: processStart(pid) ?? '' })

export const isAlive = ({ pid, start }: Seen): boolean => start !== '' && processStart(pid) === start

/** A directory to train in: a pool file and the config of a run of four steps. */
export const makeWorkplace = (fleet: Fleet, model: string, pool: string, settings: string): string => {
  const cwd = temporaryDirectory()
  mkdirSync(cwd, { recursive: true })
  copyFileSync(pool, join(cwd, 'pool.jsonl'))
  writeFileSync(
    join(cwd, 'kill.yaml'),
    `run: {dir: runs, steps: 4, checkpointEvery: 2}
model: {path: ${JSON.stringify(model)}, maxPromptTokens: 200, maxCompletionTokens: 12}
pool: {kind: file, path: pool.jsonl}
rewards: {profile: paper}
judge:
  kind: llm
  baseUrl: ${fleet.relays.judge.url}/v1
  model: judge
  audit: 'off'
  cache: {dir: null}
  breaker: {failures: 3, pauseSeconds: 0.1}
lora: {rank: 4, alpha: 8}
optimizer: {learningRate: 0.01, warmupFraction: 0}
evaluation: {prompts: 2, samples: 3}
${settings}`,
  )
  return cwd
}

/** The settings of a run that is attached to the fleet. */
export const attached = (fleet: Fleet): string => `
sampling:
  groupSize: 4
  promptsPerStep: 2
  server: {kind: vllm, url: ${fleet.relays.sampler.url}, model: base}
worker: {kind: attach, url: ${fleet.relays.worker.url}}
`

/** The settings of a run that starts its own worker and samples from it. */
export const spawned = `
sampling: {groupSize: 4, promptsPerStep: 2}
worker: {kind: spawn, threads: 1}
`

/** Starts or continues the run of a workplace, as a process of its own. */
export const startTraining = (cwd: string, run: string, isNew: boolean, ...more: string[]): Started =>
  startProgram(
    'scripts/train.ts',
    isNew ? ['--config', 'kill.yaml', '--set', `run.id=${run}`, ...more] : ['--resume', run, ...more],
    // The relays put the real token in its place.
    { cwd, env: { DRIFT_GRPO_TOKEN: 'relayed' } },
  )
