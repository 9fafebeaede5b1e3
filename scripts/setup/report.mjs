import { performance } from 'node:perf_hooks'
import process from 'node:process'

/** An expected failure of set-up: its text is all the user needs, and the exit code is 3 (preflight). */
export class SetupError extends Error {}

/**
 * Tells what is being done while it is done. Progress goes to stderr, so that stdout stays free for data.
 * @param {string} line
 */
export function say(line) {
  process.stderr.write(`setup: ${line}\n`)
}

/** @param {number} since a value of performance.now() */
export function secondsSince(since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`
}
