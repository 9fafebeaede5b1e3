import { join } from 'node:path'
import { packageRoot } from '../../data/package-root.ts'
import type { EngineCommand } from '../../trainer/vllm/command.ts'
import { freePort } from '../../trainer/vllm/free-port.ts'
import { startEngine, type EngineOptions, type EngineProcess } from '../../trainer/vllm-process.ts'
import { VllmSampler } from '../../trainer/vllm-sampler.ts'
import { temporaryDirectory } from './tiny-training.ts'

const program = join(packageRoot(), 'test/support/fake-vllm.mjs')
export const engineKey = 'key'

export type FakeMode = 'ok' | 'never-healthy' | 'dies' | 'other-model' | 'stubborn' | 'hold' | 'poison'

/** Options that start fake-vllm.mjs, on a free port where none is given. */
export const fakeEngine = async (
  mode: FakeMode,
  { port = 0, ...changes }: Partial<EngineOptions> & { port?: number } = {},
): Promise<EngineOptions> => {
  const at = port === 0 ? await freePort() : port
  const args = ['serve', 'model', '--served-model-name', 'base', '--host', '127.0.0.1', '--port', String(at)]
  const command: EngineCommand = {
    ...{ program, args: [...args, `--fake=${mode}`], env: { VLLM_API_KEY: engineKey } },
    ...{ host: '127.0.0.1', port: at, servedName: 'base' },
  }
  const directory = temporaryDirectory()
  const logPath = join(directory, 'logs', 'vllm.log')
  const defaults = { what: 'policy server', boundary: 'sampler', startTimeoutSeconds: 60, pollMs: 20 } as const
  return { ...defaults, command, logPath, records: join(directory, 'processes'), ...changes }
}

/** Starts fake servers and ends them all. */
export class FakeEngines {
  readonly #running: EngineProcess[] = []

  async start(given: EngineOptions): Promise<EngineProcess> {
    const engine = await startEngine(given)
    this.#running.push(engine)
    return engine
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.splice(0).map((engine) => engine.stop()))
  }
}

/** A client of such a server; without `gone`, as of one that somebody else runs. */
export const fakeClient = (url: string, gone?: AbortSignal): VllmSampler =>
  new VllmSampler({ url, token: engineKey, baseName: 'base', requestTimeoutMs: 60_000, gone })
