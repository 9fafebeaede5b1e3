import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SetupError, say } from '../setup/report.mjs'
import { runVitest } from '../tooling/suites.mjs'
import { installVllm, vllmVersions } from './install.mjs'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** One server at a time, for each takes 2.6 GB; tests of one file share theirs. */
const options = ['--no-file-parallelism', '--hookTimeout=1800000', '--testTimeout=600000']

/** What vLLM needs to run on a CPU, where the command line has no say. */
const onCpu = {
  // In GiB, whole ones only: the key-value cache, in place of a share of a GPU's memory.
  VLLM_CPU_KVCACHE_SPACE: '1',
  VLLM_CPU_OMP_THREADS_BIND: 'nobind',
  // Two threads on two busy cores wait for each other: 10 to 100 times slower.
  OMP_NUM_THREADS: '1',
  // Without it the first request with log-probs compiles C++ for a quarter of a minute.
  TORCHDYNAMO_DISABLE: '1',
  HF_HUB_OFFLINE: '1',
}

/**
 * The installed program, or none where this machine cannot have it, which is said.
 * @param {string} version
 */
function programOrNone(version) {
  try {
    return installVllm(root, version)
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    say(`the tests with vLLM are skipped: ${error.message}`)
    return ''
  }
}

/**
 * Runs the tests against a real vLLM on the CPU and installs it first if need be. Where that is impossible they are skipped.
 * @param {string} version one of vllmVersions
 * @param {readonly string[]} filters of test files; none: all of test/vllm
 * @returns {import('../tooling/suites.mjs').Counts}
 */
export function runVllm(version = vllmVersions[0] ?? '', filters = []) {
  const env = { ...onCpu, DRIFT_GRPO_VLLM: programOrNone(version), DRIFT_GRPO_VLLM_VERSION: version }
  return runVitest([...options, ...(filters.length === 0 ? ['test/vllm/'] : filters)], env)
}
