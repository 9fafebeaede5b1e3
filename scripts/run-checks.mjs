/** `npm run check`: every static check. Each failing one is named at the end, not only the first. */
import process from 'node:process'
import { runChecks } from './tooling/checks.mjs'

const failed = runChecks().filter(({ passed }) => !passed)
process.stdout.write(
  failed.length === 0 ? 'all checks passed\n' : `failed: ${failed.map(({ name }) => name).join(', ')}\n`,
)
process.exitCode = failed.length === 0 ? 0 : 1
