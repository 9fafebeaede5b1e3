import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SetupError, say } from './report.mjs'

/** @typedef {Record<string, {version?: string, optional?: boolean}>} LockedPackages */

/**
 * @param {string} file
 * @returns {LockedPackages}
 */
function lockedPackages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages
}

/**
 * Compares package-lock.json with npm's own record of what it installed.
 * @param {string} root
 */
export function nodeModulesAreCurrent(root) {
  const record = join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(record)) return false
  const installed = lockedPackages(record)
  return Object.entries(lockedPackages(join(root, 'package-lock.json'))).every(
    // Optional packages are those of other platforms; the entry without a name is this package itself.
    ([path, { version, optional }]) => path === '' || optional || installed[path]?.version === version,
  )
}

/**
 * @param {string} root
 * @returns {boolean} whether there was anything to do
 */
export function setUpNodeModules(root) {
  if (nodeModulesAreCurrent(root)) return false
  say('installing the Node packages (npm ci, about 250 MB)')
  // Warnings about packages are for who develops with them; to who only wants to start they read like failures.
  const quiet = ['--no-fund', '--no-audit', '--loglevel=error', '--no-update-notifier']
  const { status, error } = spawnSync('npm', ['ci', ...quiet], { cwd: root, stdio: ['ignore', 2, 2] })
  if (status !== 0) {
    throw new SetupError(`npm ci failed (${error?.message ?? `exit code ${status}`}); what it said is above.`)
  }
  return true
}
