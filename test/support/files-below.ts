import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Every file of a directory and of those in it. */
export const filesBelow = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
