import { existsSync } from 'node:fs'
import process from 'node:process'

const places = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

/** A browser on this machine, or the one that DRIFT_GRPO_BROWSER names; undefined where there is none. */
export const browserPath = (): string | undefined =>
  process.env['DRIFT_GRPO_BROWSER'] ?? places.find((place) => existsSync(place))

/** May browser tests be skipped? Where none is installed; `DRIFT_GRPO_REQUIRE_BROWSER=1` makes them fail instead. */
export const mayLackBrowser = (): boolean =>
  browserPath() === undefined && process.env['DRIFT_GRPO_REQUIRE_BROWSER'] !== '1'
