import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { packageRoot } from '../data/package-root.ts'

const Manifest = z.object({ version: z.string() })

/** The version in package.json. */
export const readVersion = (): string =>
  Manifest.parse(JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'))).version
