import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { SetupError } from './report.mjs'

const oldest = [3, 11]
const usual = ['python3.11', 'python3.12', 'python3.13', 'python3']
// ensurepip is what Debian splits off: without it `python -m venv` fails half-way through.
const question =
  'import sys, importlib.util as u; print("%d.%d.%d" % sys.version_info[:3], bool(u.find_spec("ensurepip")))'

/** @typedef {{command: string, version: string}} Python */

/**
 * Asks one command for its version.
 * @param {string} command
 * @returns {{version: string} | {problem: string}}
 */
function ask(command) {
  const { error, status, stdout } = spawnSync(command, ['-c', question], { encoding: 'utf8', timeout: 20_000 })
  if (error !== undefined || status !== 0) return { problem: 'not found' }
  const [version = '', canMakeVenv] = stdout.trim().split(' ')
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major !== oldest[0] || minor < (oldest[1] ?? 0)) return { problem: `version ${version || 'unknown'}` }
  if (canMakeVenv !== 'True') return { problem: `version ${version}, without the venv module (Debian: python3-venv)` }
  return { version }
}

/**
 * The first Python that can run the worker. DRIFT_GRPO_PYTHON names one and rules the others out.
 * @param {NodeJS.ProcessEnv} env
 * @returns {Python}
 * @throws {SetupError} when there is none; the text says what was tried
 */
export function findPython(env = process.env) {
  const chosen = env['DRIFT_GRPO_PYTHON']
  const tried = []
  for (const command of chosen ? [chosen] : usual) {
    const answer = ask(command)
    if ('version' in answer) return { command, version: answer.version }
    tried.push(`${command}: ${answer.problem}`)
  }
  throw new SetupError(
    `Python ${oldest.join('.')} or newer is needed for the training worker.\n` +
      tried.map((line) => `  tried ${line}\n`).join('') +
      '  Install one, or set DRIFT_GRPO_PYTHON to its path.',
  )
}
