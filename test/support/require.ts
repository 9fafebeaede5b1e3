import { existsSync } from 'node:fs'
import process from 'node:process'

/**
 * May tests that need these files be skipped? Only where one is missing and nobody has just set everything up: with
 * DRIFT_GRPO_REQUIRE=1, as `npm test` has it, they run all the same, and fail by what is missing.
 */
export const mayLack = (files: readonly string[], env: NodeJS.ProcessEnv = process.env): boolean =>
  env['DRIFT_GRPO_REQUIRE'] !== '1' && !files.every((file) => existsSync(file))
