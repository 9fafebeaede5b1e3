import { mkdir, mkdtemp, rm, rmdir } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fail, ok, type Check } from '../check.ts'

/** Makes a directory and what is missing above it; returns the topmost that is new, undefined where all were there. */
const make = (directory: string): Promise<string | undefined> => mkdir(directory, { recursive: true })

export const writeAccessCheck: Check = {
  name: 'write access',
  beforeTraining: true,
  run: async ({ config, cwd }) => {
    const directory = resolve(cwd, config.run.dir)
    const existed = existsSync(directory)
    try {
      const made = await make(directory)
      const probe = await mkdtemp(join(directory, '.doctor-'))
      await rmdir(probe)
      if (!existed && made !== undefined) await rm(made, { recursive: true })
      return ok(directory)
    } catch (error) {
      return fail(
        `${directory} cannot be written: ${(error as Error).message}`,
        'Set run.dir to a directory that is yours.',
      )
    }
  },
}
