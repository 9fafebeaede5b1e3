/** Writes every generated file of the repository; `--check` writes nothing and fails when one is stale. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { z } from 'zod'
import { packageRoot } from '../data/package-root.ts'
import { SessionRequest, UpdateBatch, UpdateResult } from '../data/records/update.ts'
import { generateRegistry } from './gen-registry.ts'

/** What crosses the wire to the Python worker, by the name of the record. */
const wireRecords = { SessionRequest, UpdateBatch, UpdateResult }

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

const generatedFiles = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(wireRecords).map(([name, record]) => [
      `trainer/python/grpo_worker/schemas/${name}.json`,
      json({ title: name, ...z.toJSONSchema(record) }),
    ]),
  )

const readOrEmpty = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })

/** Brings the generated files up to date, or with `check` only names the stale ones. */
const generate = async (check: boolean): Promise<string[]> => {
  // The registry comes first: other generated files are derived from it.
  const registry = await generateRegistry({ check })
  const stale = registry === null ? [] : [registry]
  for (const [path, source] of Object.entries(generatedFiles())) {
    const file = join(packageRoot(), path)
    if ((await readOrEmpty(file)) === source) continue
    stale.push(path)
    if (check) continue
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, source)
  }
  return stale
}

const check = process.argv.includes('--check')
const stale = await generate(check)
for (const path of stale) process.stderr.write(check ? `${path} is stale: run npm run gen\n` : `wrote ${path}\n`)
process.exitCode = check && stale.length > 0 ? 1 : 0
