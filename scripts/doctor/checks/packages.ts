import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { packageRoot } from '../../../data/package-root.ts'
import { pythonPath } from '../../../trainer/python-check.ts'
import { fail, ok, skip, warn, type Check } from '../check.ts'

const run = promisify(execFile)

/** Prints the installed version of each name; null where there is none. Imports nothing, so it is fast. */
const script = `
import json, sys
from importlib import metadata
def version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
print(json.dumps({name: version(name) for name in sys.argv[1:]}))
`
const Versions = z.record(z.string(), z.string().nullable())

/** Packages that the worker imports itself, with the version that it was tested with. */
export const requiredPackages = (requirements: string): Map<string, string> => {
  const direct = requirements.split('# Needed by those')[0] ?? ''
  return new Map([...direct.matchAll(/^([\w.-]+)==(\S+)/gm)].map(([, name = '', version = '']) => [name, version]))
}

/** torch's version may carry the build: 2.13.0+cpu. */
const isSame = (found: string, wanted: string): boolean => found.split('+')[0] === wanted

export const packagesCheck: Check = {
  name: 'python packages',
  beforeTraining: true,
  run: async ({ config: { worker }, signal }) => {
    if (worker.kind === 'attach') return skip('the worker runs already')
    const wanted = requiredPackages(await readFile(join(packageRoot(), 'trainer/python/requirements.txt'), 'utf8'))
    const args = ['-c', script, ...wanted.keys()]
    const { stdout } = await run(pythonPath(worker.python), args, { timeout: 60_000, signal })
    const found = Versions.parse(JSON.parse(stdout))
    const missing = [...wanted.keys()].filter((name) => (found[name] ?? null) === null)
    if (missing.length > 0) return fail(`missing: ${missing.join(', ')}`, 'Run npm run setup.')
    const other = [...wanted].filter(([name, version]) => !isSame(found[name] ?? '', version))
    if (other.length > 0) {
      const texts = other.map(([name, version]) => `${name} ${found[name]} instead of ${version}`)
      return warn(texts.join(', '), 'Run npm run setup, which installs the versions that were tested.')
    }
    return ok([...wanted].map(([name]) => `${name} ${found[name]}`).join(', '))
  },
}
