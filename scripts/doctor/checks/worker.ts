import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageRoot } from '../../../data/package-root.ts'
import { exchange, readError, succeeded } from '../../../trainer/http.ts'
import { diagnose, pythonPath } from '../../../trainer/python-check.ts'
import { needsGpu } from '../../../trainer/memory/plan.ts'
import { fail, ok, type Check, type DoctorContext, type Finding } from '../check.ts'

const run = promisify(execFile)

/** Imports everything that the worker will: the way most broken installations show. */
const imports =
  'import torch, transformers, peft, grpo_worker.server; print(torch.__version__, torch.cuda.is_available())'

const spawned = async (python: string, { config, env, signal }: DoctorContext): Promise<Finding> => {
  try {
    const options = { timeout: 180_000, signal, env: { ...env, PYTHONPATH: join(packageRoot(), 'trainer', 'python') } }
    const [torch = '', cuda = ''] = (await run(python, ['-c', imports], options)).stdout.trim().split(' ')
    const wantsGpu = needsGpu(config) && config.worker.kind === 'spawn' && config.worker.device !== 'cpu'
    if (wantsGpu && cuda !== 'True')
      return fail(`torch ${torch} sees no CUDA GPU`, 'Install a CUDA build of torch, or correct the driver.')
    return ok(`it can be started: torch ${torch}, CUDA ${cuda === 'True' ? 'yes' : 'no'}`)
  } catch (error) {
    signal.throwIfAborted()
    const lines = ((error as { stderr?: string }).stderr ?? '').trim().split('\n')
    return fail(lines.at(-1) || (error as Error).message, diagnose(lines) ?? 'Run npm run setup.')
  }
}

export const workerCheck: Check = {
  name: 'worker',
  beforeTraining: false,
  run: async (context) => {
    const { config, env, signal } = context
    const { worker } = config
    if (worker.kind === 'spawn') return await spawned(pythonPath(worker.python), context)
    const token = env[worker.tokenEnv]
    if (!token) return fail(`${worker.tokenEnv} is not set`, 'Set it to the token that the worker was started with.')
    try {
      const reply = await exchange({
        method: 'GET',
        url: `${worker.url.replace(/\/$/, '')}/info`,
        token,
        timeoutMs: 10_000,
        signal,
      })
      return succeeded(reply)
        ? ok(`it answers at ${worker.url}`)
        : fail(readError(reply).message, `Correct ${worker.tokenEnv} or worker.url.`)
    } catch (error) {
      signal.throwIfAborted()
      return fail(
        `${worker.url} does not answer: ${(error as Error).message}`,
        'Start the worker, or correct worker.url.',
      )
    }
  },
}
