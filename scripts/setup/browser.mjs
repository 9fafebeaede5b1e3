import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { say } from './report.mjs'

/** Where systems put a browser that can be driven without a screen. */
export const browserPlaces = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

const packageName = 'chromium-headless-shell'

/**
 * The browser that the tests drive, or undefined. DRIFT_GRPO_BROWSER names another one.
 * @returns {string | undefined}
 */
export function findBrowser() {
  const named = process.env['DRIFT_GRPO_BROWSER']
  return named === undefined || named === '' ? browserPlaces.find((place) => existsSync(place)) : named
}

/** @returns {boolean} */
const mayInstall = () => existsSync('/etc/debian_version') && process.getuid?.() === 0

const apt = (/** @type {string[]} */ ...args) =>
  spawnSync('apt-get', ['-y', '-q', ...args], {
    stdio: ['ignore', 2, 2],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: 600_000,
  }).status === 0

/**
 * Installs it where that can be done without asking: as root on Debian. Elsewhere the tests in a browser are skipped, and
 * say so; a missing browser never fails set-up. What could not be installed once is not tried again before the file
 * `.cache/no-browser` is removed.
 * @param {string} root
 * @returns {boolean} whether there was anything to do
 */
export function setUpBrowser(root) {
  if (findBrowser() !== undefined) return false
  const failed = join(root, '.cache', 'no-browser')
  const how = `apt-get install ${packageName}, or set DRIFT_GRPO_BROWSER to a Chromium or Chrome`
  if (!mayInstall() || existsSync(failed)) {
    say(`no browser found: the tests in a browser are skipped (to run them: ${how})`)
    return false
  }
  say(`installing ${packageName} for the tests in a browser (about 100 MB)`)
  const install = () => apt('install', '--no-install-recommends', packageName, 'fonts-dejavu-core')
  if (!install() && !(apt('update') && install())) {
    mkdirSync(dirname(failed), { recursive: true })
    writeFileSync(failed, '')
    say(`it could not be installed: the tests in a browser are skipped (to run them: ${how})`)
  }
  return true
}
