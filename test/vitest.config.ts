import process from 'node:process'
import { configDefaults, defineConfig } from 'vitest/config'

/** A suite of its own, which installs a vLLM first: `npm run test:vllm`. */
const needsVllm = 'test/vllm/**'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(process.env['DRIFT_GRPO_VLLM'] === undefined ? [needsVllm] : [])],
    setupFiles: ['test/support/remove-temporary.ts'],
    // Files that start a worker process hold about 1 GB each, so not one per core on a large machine.
    maxWorkers: 2,
    // Many tests start real processes; on a busy machine those take their time. Only a hang should fail.
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Trainings do not show themselves here; the test of that asks for it.
    env: { DRIFT_GRPO_DASHBOARD: 'off' },
    coverage: { include: ['{data,judge,rewards,trainer,configs}/**'], exclude: ['**/*.generated.ts'] },
  },
})
