import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/remove-temporary.ts'],
    // Files that start a worker process hold about 1 GB each, so not one per core on a large machine.
    maxWorkers: 2,
    // Many tests start real processes; on a busy machine those take their time. Only a hang should fail.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    coverage: { include: ['{data,judge,rewards,trainer,configs}/**'], exclude: ['**/*.generated.ts'] },
  },
})
