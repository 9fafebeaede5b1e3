import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { milliseconds } from '../data/duration.ts'
import { PipelineError } from '../data/errors.ts'
import { fetchModel } from '../data/hub/model.ts'
import { hubSettings } from '../data/hub/settings.ts'
import { packageRoot } from '../data/package-root.ts'
import { samplerUrls, type AttachedSampler, type TrainerConfig } from './config.ts'
import type { Learner } from './learner.ts'
import type { RunDirectory } from './run-directory.ts'
import type { Sampler } from './sampler.ts'
import { attached } from './supervision/attached.ts'
import { endOrphans } from './supervision/child-records.ts'
import type { ServerSource } from './supervision/endpoint.ts'
import { Endpoints } from './supervision/endpoints.ts'
import { restarted } from './supervision/restarted.ts'
import type { SpawnedSampler } from './vllm/config.ts'
import { examineServer } from './vllm/examine-server.ts'
import { policyServer, startPolicyEngine } from './vllm/start.ts'
import { policyBaseName } from './vllm/command.ts'
import { VllmSampler } from './vllm-sampler.ts'
import { WorkerClient, workerTries } from './worker-client.ts'
import { startWorker } from './worker-process.ts'

/** The processes that a run talks to. */
export interface Services {
  readonly learner: Learner
  readonly sampler: Sampler
  /** Aborted, with the reason, when the worker has ended: nothing can go on without it. Undefined: it cannot be known. */
  readonly workerGone?: AbortSignal | undefined
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
  /** Told what somebody should know about afterwards. */
  readonly onWarning?: ((text: string) => void) | undefined
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
    throw new PipelineError('config', `${key}: the environment variable ${name} is not set`, {
      remedy: `Set ${name} to the token, or name another variable.`,
    })
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
    roots: [options.run.adapters, options.run.checkpoints],
    logPath: options.run.log('worker'),
    records: options.run.processes,
    signal: options.signal,
  })
}

/** A sampler that may be lost and come back, and how it is ended for good. */
interface OpenSampler {
  readonly sampler: Sampler
  stop(): Promise<void>
}

const supervised = (sources: readonly [ServerSource, ...ServerSource[]], stop: () => Promise<void>): OpenSampler => {
  const sampler = new Endpoints(sources)
  return { sampler, stop: () => sampler.close().then(stop) }
}

/** A sampler that is started here, before the worker: an engine measures the free memory while it starts. */
const startSampler = async (
  server: SpawnedSampler,
  { config, run, cwd, signal, onProgress }: ServiceOptions,
  directory: string | null,
): Promise<OpenSampler> => {
  const model = directory ?? resolveModel(config.model.path, cwd)
  const surroundings = { model, logPath: run.log('vllm'), records: run.processes, signal, onProgress }
  const { engine: first, start } = await startPolicyEngine(server, config, surroundings)
  const requestTimeoutMs = milliseconds(config.sampling.requestTimeoutSeconds)
  const source = restarted({
    name: `the ${policyServer}`,
    first,
    start,
    clientOf: ({ url, token, gone }) =>
      new VllmSampler({ url, token, gone, baseName: policyBaseName, requestTimeoutMs }),
  })
  return supervised([source], () => source.stop())
}

/** Samplers that run already; each must answer now, and be able to do what a run needs. */
const attachSamplers = async (
  server: AttachedSampler,
  { config, env, signal }: ServiceOptions,
): Promise<OpenSampler> => {
  const { tokenEnv, model: baseName } = server
  const token = tokenEnv === null ? undefined : readToken(tokenEnv, env ?? process.env, 'sampling.server.tokenEnv')
  const requestTimeoutMs = milliseconds(config.sampling.requestTimeoutSeconds)
  const contextTokens = config.model.maxPromptTokens + config.model.maxCompletionTokens
  const urls = samplerUrls(server)
  await Promise.all(urls.map((url) => examineServer({ url, token, baseName, contextTokens }, signal)))
  const sources = urls.map((url) =>
    attached({ url, client: new VllmSampler({ url, token, baseName, requestTimeoutMs }) }),
  )
  const [first, ...others] = sources
  if (first === undefined) throw new Error('sampling.server.url names no address')
  return supervised([first, ...others], async () => undefined)
}

/** The sampler of a config, unless it is the worker itself. */
const openSampler = async (options: ServiceOptions, directory: string | null): Promise<OpenSampler | null> => {
  const { server } = options.config.sampling
  if (server.kind === 'spawn') return await startSampler(server, options, directory)
  return server.kind === 'vllm' ? await attachSamplers(server, options) : null
}

/** The worker's own sampling routes: they share its fate. */
const embeddedSampler = async (
  { url, token, gone }: WorkerAddress,
  { config, signal }: ServiceOptions,
): Promise<Sampler> => {
  const requestTimeoutMs = milliseconds(config.sampling.requestTimeoutSeconds)
  // Behind several samplers, or one that may come back, a few tries are enough; here nobody else can be asked.
  const sampler = new VllmSampler({ url, token, gone, baseName: embeddedBase, requestTimeoutMs, tries: workerTries })
  await sampler.health(signal)
  return sampler
}

/**
 * Starts or reaches sampler and worker and waits until both answer. What an earlier process of this run left behind when it
 * was killed is ended first: it holds memory that is needed now.
 */
export const openServices = async (options: ServiceOptions): Promise<Services> => {
  const { config, run } = options
  for (const text of await endOrphans(run.processes)) options.onWarning?.(text)
  const isLoadedHere = config.worker.kind === 'spawn' || config.sampling.server.kind === 'spawn'
  const directory = isLoadedHere ? await locateModel(config.model, options) : null
  const own = await openSampler(options, directory)
  const worker = await reachWorker(options, directory).catch(async (error: unknown) => {
    await own?.stop()
    throw error
  })
  const stop = async (): Promise<void> => void (await Promise.all([worker.stop(), own?.stop()]))
  try {
    const learner = new WorkerClient({
      url: worker.url,
      token: worker.token,
      gone: worker.gone,
      requestTimeoutMs: milliseconds(config.worker.requestTimeoutSeconds),
      adaptersDir: run.adapters,
      statesDir: run.checkpoints,
    })
    const sampler = own?.sampler ?? (await embeddedSampler(worker, options))
    return { learner, sampler, workerGone: worker.gone, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
