import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const findRoot = (from: string): string => {
  if (existsSync(join(from, 'package.json'))) return from
  const parent = dirname(from)
  if (parent === from) throw new Error('package.json was not found above this file')
  return findRoot(parent)
}

const root = findRoot(dirname(fileURLToPath(import.meta.url)))

/** The installed package's directory: templates, configs and weights are read from here, whether the code runs from source or from dist. */
export const packageRoot = (): string => root

const Manifest = z.object({ version: z.string() })

/** The version in package.json. */
export const packageVersion = (): string =>
  Manifest.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))).version
