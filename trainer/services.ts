import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { PipelineError } from '../data/errors.ts'
import { fetchModel } from '../data/hub/model.ts'
import { hubSettings } from '../data/hub/settings.ts'
import { packageRoot } from '../data/package-root.ts'
import type { TrainerConfig } from './config.ts'
import type { Learner } from './learner.ts'
import type { RunDirectory } from './run-directory.ts'
import type { Sampler } from './sampler.ts'
import { startPolicyEngine } from './vllm/start.ts'
import { policyBaseName } from './vllm/command.ts'
import { VllmSampler } from './vllm-sampler.ts'
import { WorkerClient } from './worker-client.ts'
import { startWorker } from './worker-process.ts'

/** The two processes that a run talks to. */
export interface Services {
  readonly learner: Learner
  readonly sampler: Sampler
  /** Ends what was started here; leaves alone what was attached to. */
  stop(): Promise<void>
}

export interface ServiceOptions {
  readonly config: TrainerConfig
  readonly run: RunDirectory
  /** Relative model paths are looked up here first. */
  readonly cwd: string
  readonly signal?: AbortSignal | undefined
  readonly env?: NodeJS.ProcessEnv
  /** Told how a start that takes minutes is going. */
  readonly onProgress?: ((text: string) => void) | undefined
}

/** Where a model is: in a directory here, or, as far as its name tells, on the Hugging Face hub. */
export interface FoundModel {
  readonly kind: 'directory' | 'hub'
  readonly location: string
  /** Directories that were looked for. */
  readonly lookedIn: readonly string[]
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** `owner/model`, where no directory `owner` makes a misspelt path likelier. */
const isHubName = (path: string, roots: readonly string[]): boolean => {
  const owner = /^([\w-][\w.-]*)\/[\w.-]+$/.exec(path)?.[1]
  return owner !== undefined && !roots.some((root) => isDirectory(resolve(root, owner)))
}

/**
 * A directory from the working directory, else from the package; else a name on the hub, which only the worker can look
 * up. Throws a PipelineError of the config for what can be neither.
 */
export const findModel = (path: string, cwd: string): FoundModel => {
  const roots = [cwd, packageRoot()]
  const lookedIn = [...new Set(roots.map((root) => resolve(root, path)))]
  const location = lookedIn.find(isDirectory)
  if (location !== undefined) return { kind: 'directory', location, lookedIn }
  if (isHubName(path, roots)) return { kind: 'hub', location: path, lookedIn }
  throw new PipelineError(
    'config',
    `model.path: there is no directory ${path} (looked for ${lookedIn.join(' and ')})`,
    {
      remedy: 'Give a directory with a Hugging Face causal LM, or a hub name such as owner/model.',
    },
  )
}

/** The model's directory: from the hub's cache, fetched where it is not there, for a hub model. */
export const locateModel = async (
  { path, revision }: { readonly path: string; readonly revision: string },
  { cwd, env, signal, onProgress }: Pick<ServiceOptions, 'cwd' | 'env' | 'signal' | 'onProgress'>,
): Promise<string> => {
  const { kind, location } = findModel(path, cwd)
  if (kind === 'directory') return location
  return await fetchModel({ repo: location, revision, settings: hubSettings(env), signal, onProgress })
}

/** What a plan names a model by: see findModel. */
export const resolveModel = (path: string, cwd: string): string => findModel(path, cwd).location

interface WorkerAddress {
  readonly url: string
  readonly token: string | undefined
  readonly gone?: AbortSignal
  readonly stop: () => Promise<void>
}

/** Served name of the base model on a worker's own sampling routes. */
const embeddedBase = 'base'

const readToken = (name: string, env: NodeJS.ProcessEnv, key: string): string => {
  const token = env[name]
  if (token === undefined || token === '')
    throw new PipelineError('config', `${key}: the environment variable ${name} is not set`)
  return token
}

const reachWorker = async (options: ServiceOptions, directory: string | null): Promise<WorkerAddress> => {
  const { worker, model } = options.config
  if (worker.kind === 'attach') {
    const token = readToken(worker.tokenEnv, options.env ?? process.env, 'worker.tokenEnv')
    return { url: worker.url, token, stop: async () => undefined }
  }
  return await startWorker({
    config: worker,
    model: directory ?? resolveModel(model.path, options.cwd),
    maxContext: model.maxPromptTokens + model.maxCompletionTokens,
    logPath: options.run.log('worker'),
    signal: options.signal,
  })
}

/** A sampler that is started here, before the worker: an engine measures the free memory while it starts. */
const reachEngine = async (options: ServiceOptions, directory: string | null): Promise<StartedEngine | null> => {
  const { config, run, signal, onProgress } = options
  const { server } = config.sampling
  if (server.kind !== 'spawn') return null
  const model = directory ?? resolveModel(config.model.path, options.cwd)
  return await startPolicyEngine(server, config, { model, logPath: run.log('vllm'), signal, onProgress })
}
type StartedEngine = Awaited<ReturnType<typeof startPolicyEngine>>

const makeSampler = (options: ServiceOptions, worker: WorkerAddress, engine: StartedEngine | null): Sampler => {
  const { server, requestTimeoutSeconds } = options.config.sampling
  const requestTimeoutMs = requestTimeoutSeconds * 1000
  if (server.kind === 'embedded') {
    return new VllmSampler({
      url: worker.url,
      token: worker.token,
      gone: worker.gone,
      baseName: embeddedBase,
      requestTimeoutMs,
    })
  }
  if (server.kind === 'spawn') {
    if (engine === null) throw new Error('the engine of sampling.server was not started')
    const { url, token, gone } = engine
    return new VllmSampler({ url, token, gone, baseName: policyBaseName, requestTimeoutMs })
  }
  const token =
    server.tokenEnv === null
      ? undefined
      : readToken(server.tokenEnv, options.env ?? process.env, 'sampling.server.tokenEnv')
  return new VllmSampler({ url: server.url, token, baseName: server.model, requestTimeoutMs })
}

/** Starts or reaches worker and sampler and waits until both answer. */
export const openServices = async (options: ServiceOptions): Promise<Services> => {
  const { model, sampling, worker: wanted } = options.config
  const isLoadedHere = wanted.kind === 'spawn' || sampling.server.kind === 'spawn'
  const directory = isLoadedHere ? await locateModel(model, options) : null
  const engine = await reachEngine(options, directory)
  const stopEngine = async (): Promise<void> => await engine?.stop()
  const worker = await reachWorker(options, directory).catch(async (error: unknown) => {
    await stopEngine()
    throw error
  })
  const stop = async (): Promise<void> => void (await Promise.all([worker.stop(), stopEngine()]))
  try {
    const learner = new WorkerClient({
      url: worker.url,
      token: worker.token,
      gone: worker.gone,
      requestTimeoutMs: options.config.worker.requestTimeoutSeconds * 1000,
      adaptersDir: options.run.adapters,
      statesDir: options.run.checkpoints,
    })
    const sampler = makeSampler(options, worker, engine)
    await sampler.health(options.signal)
    return { learner, sampler, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
