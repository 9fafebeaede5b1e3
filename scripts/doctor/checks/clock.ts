import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { packageRoot } from '../../../data/package-root.ts'
import { fail, ok, type Check } from '../check.ts'

/** Files that were certainly written before now: the program itself, and the runs. */
const witnesses = async (runs: string): Promise<string[]> => [
  join(packageRoot(), 'package.json'),
  ...(existsSync(runs) ? (await readdir(runs)).map((name) => join(runs, name)) : []),
]

/** Clocks of a file server and of this machine may differ by this much. */
const tolerated = 60_000

export const clockCheck: Check = {
  name: 'clock',
  beforeTraining: false,
  run: async ({ config, cwd, now }) => {
    const times = await Promise.all(
      (await witnesses(resolve(cwd, config.run.dir))).map(async (file) => (await stat(file)).mtimeMs),
    )
    const latest = Math.max(...times)
    const at = now()
    return at.getTime() + tolerated >= latest
      ? ok(at.toISOString())
      : fail(
          `the clock says ${at.toISOString()}, and files here were written at ${new Date(latest).toISOString()}`,
          'Set the clock: runs are ordered by it, and encrypted connections fail when it is wrong.',
        )
  },
}
