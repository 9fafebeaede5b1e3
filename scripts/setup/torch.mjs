import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

/** How long set-up waits for an index to say what it has. Beyond that it goes on without the answer. */
const probeMs = 30_000

/** @typedef {{url: string, cuda: boolean, bytes: number | null}} Wheel */

/**
 * The pinned torch requirement, such as `torch==2.13.0`, or undefined when none of the files pins it.
 * @param {readonly string[]} requirementFiles
 */
export function torchRequirement(requirementFiles) {
  for (const file of requirementFiles) {
    const line = /^torch\s*==\s*[^\s;#]+/m.exec(readFileSync(file, 'utf8'))
    if (line !== null) return line[0].replaceAll(/\s/g, '')
  }
  return undefined
}

/** True when a working NVIDIA driver lists at least one GPU. */
export function hasNvidiaGpu() {
  const { status, stdout } = spawnSync('nvidia-smi', ['-L'], { encoding: 'utf8', timeout: 10_000 })
  return status === 0 && /GPU \d+/.test(stdout)
}

/**
 * Reads what pip's dry-run report says about the wheel it would take.
 * @param {string} report JSON of `pip install --dry-run --report`
 * @returns {{url: string, cuda: boolean} | undefined}
 */
export function wheelOfReport(report) {
  const [item] = JSON.parse(report).install ?? []
  const url = item?.download_info?.url
  if (typeof url !== 'string') return undefined
  /** @type {string[]} */
  const needs = item.metadata?.requires_dist ?? []
  const isCpuBuild = /(\+|%2B)cpu/i.test(url)
  return { url, cuda: !isCpuBuild && needs.some((line) => /^(nvidia|cuda)-/.test(line)) }
}

/**
 * The size of a wheel, or null when nobody says in time.
 * @param {string} url
 */
async function sizeOf(url) {
  try {
    if (url.startsWith('file:')) return statSync(fileURLToPath(url)).size
    const answer = await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(5000) })
    return Number(answer.headers.get('content-length')) || null
  } catch {
    // Only the announced size is lost: pip names it again while it downloads.
    return null
  }
}

/**
 * Asks pip which wheel it would take, without taking it. Undefined when pip cannot say in time: then pip itself
 * will tell, with its retries, when it installs.
 * @param {string} python
 * @param {string} requirement
 * @param {readonly string[]} pipOptions
 * @returns {Promise<Wheel | undefined>}
 */
export async function probeWheel(python, requirement, pipOptions) {
  const quick = ['--dry-run', '--quiet', '--no-deps', '--ignore-installed', '--retries', '0', '--timeout', '10']
  const pip = spawn(python, ['-m', 'pip', 'install', ...quick, '--report', '-', ...pipOptions, requirement], {
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: probeMs,
    env: { ...process.env, PIP_DISABLE_PIP_VERSION_CHECK: '1' },
  })
  const [report, [code]] = await Promise.all([text(pip.stdout), once(pip, 'close')])
  if (code !== 0) return undefined
  const wheel = wheelOfReport(report)
  return wheel && { ...wheel, bytes: await sizeOf(wheel.url) }
}
