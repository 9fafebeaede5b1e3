import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { findPython } from './find-python.mjs'
import { madeElsewhere, relocate } from './relocate.mjs'
import { SetupError, say } from './report.mjs'
import { hashFiles, readStamp } from './stamp.mjs'
import { hasNvidiaGpu, probeWheel, torchRequirement } from './torch.mjs'

/** Full sizes of torch builds, for the announcement when nobody tells the exact one. */
const usualSize = { cpu: 'about 200 MB', cuda: 'about 2.5 GB with its CUDA libraries, 5 GB installed' }

/**
 * @param {import('./torch.mjs').Wheel | undefined} wheel
 * @param {boolean} gpu
 * @returns {string}
 */
export function describeTorch(wheel, gpu) {
  if (wheel === undefined) return 'build and size are not known yet: pip tells below'
  const size = wheel.bytes === null ? undefined : `${Math.round(wheel.bytes / 1e6)} MB`
  if (!wheel.cuda) return `the CPU build, ${size ?? usualSize.cpu}`
  const build = `the CUDA build, ${usualSize.cuda}`
  if (gpu) return build
  return (
    `${build}, although this machine has no NVIDIA GPU: the package index offers nothing smaller.\n` +
    '       To take a CPU build instead, stop here (Ctrl-C), set DRIFT_GRPO_TORCH_INDEX to the address of\n' +
    '       an index that carries CPU wheels, and start again.'
  )
}

/**
 * @param {string} python
 * @param {readonly string[]} args
 */
async function pip(python, args) {
  // A warning against root is beside the point in an environment of one's own.
  const env = { ...process.env, PIP_ROOT_USER_ACTION: 'ignore', PIP_DISABLE_PIP_VERSION_CHECK: '1' }
  const child = spawn(python, ['-m', 'pip', ...args], { stdio: ['ignore', 2, 2], env })
  const [code] = await once(child, 'close')
  if (code !== 0) {
    throw new SetupError(
      `pip could not install the Python packages (exit code ${code}); what it said is above.\n` +
        '  If an index is unreachable, check the network and pip’s own configuration, then start again: what was installed is kept.',
    )
  }
}

/**
 * torch alone and last: an index with CPU builds may hold nothing else that is needed, and of what torch wants only the
 * libraries of a CUDA build are still missing by then. Its wheels are the only ones without pinned hashes: they differ.
 * @param {string} python
 * @param {readonly string[]} requirements
 */
async function installTorch(python, requirements) {
  const torch = torchRequirement(requirements)
  if (torch === undefined) return
  const gpu = hasNvidiaGpu()
  const index = process.env['DRIFT_GRPO_TORCH_INDEX']
  const options = index && !gpu ? ['--index-url', index] : []
  say(`asking which ${torch} pip would take (${gpu ? 'NVIDIA GPU found' : 'no NVIDIA GPU'})`)
  const wheel = await probeWheel(python, torch, options)
  say(`${torch}: ${describeTorch(wheel, gpu)}`)
  await pip(python, ['install', ...(wheel?.cuda === false ? ['--no-deps'] : []), ...options, torch])
}

/**
 * @param {string} venv
 * @param {import('./find-python.mjs').Python} python
 */
async function makeVenv(venv, python) {
  say(`making the Python environment .venv with ${python.command} (${python.version})`)
  rmSync(venv, { recursive: true, force: true })
  const child = spawn(python.command, ['-m', 'venv', venv], { stdio: ['ignore', 2, 2] })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new SetupError(`${python.command} -m venv failed (exit code ${code}); what it said is above.`)
}

/** @param {string} root */
const pythonOfVenv = (root) => join(root, '.venv', 'bin', 'python')

/**
 * Fails before anything is downloaded when there is neither an environment nor a Python to make one.
 * @param {string} root
 */
export function checkPython(root) {
  if (!existsSync(pythonOfVenv(root))) findPython()
}

/**
 * The same pins with the hashes of their files.
 * @param {string} requirements
 */
export const lockOf = (requirements) => requirements.replace(/\.txt$/, '.lock')

/**
 * Brings .venv up to the pinned requirements.
 * @param {string} root
 * @param {{dev: boolean}} options dev adds what only tests and checks need
 * @returns {Promise<boolean>} whether there was anything to do
 */
export async function setUpPython(root, { dev }) {
  const folder = join(root, 'trainer', 'python')
  const runtime = [join(folder, 'requirements.txt')]
  const all = [...runtime, join(folder, 'requirements-dev.txt')].filter((file) => existsSync(file))
  const venv = join(root, '.venv')
  const python = pythonOfVenv(root)
  const stampFile = join(venv, 'drift-grpo.stamp')
  const home = existsSync(python) ? madeElsewhere(venv) : undefined
  if (home !== undefined) {
    say(`the checkout was moved: repairing .venv, which was made at ${home}`)
    relocate(venv, home)
  }
  const done = existsSync(python) ? readStamp(stampFile) : ''
  const wanted = dev ? all : runtime
  const stampOf = (/** @type {string[]} */ files) => hashFiles(root, [...files, ...files.map(lockOf)])
  if ([all, wanted].some((files) => done === stampOf(files))) return home !== undefined

  if (!existsSync(python)) await makeVenv(venv, findPython())
  say('installing the Python packages of the training worker')
  const locks = wanted.flatMap((file) => ['-r', lockOf(file)])
  await pip(python, ['install', '--no-deps', '--require-hashes', ...locks])
  await installTorch(python, wanted)
  writeFileSync(stampFile, `${stampOf(wanted)}\n`)
  return true
}
