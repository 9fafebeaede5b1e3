import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { matches } from '../../data/hub/checksum.ts'
import { packageRoot } from '../../data/package-root.ts'

const noteFile = 'source.json'

/** Written last into a finished directory: where the weights came from, and what every file must be. */
const Note = z.strictObject({
  source: z.string(),
  recipe: z.string(),
  files: z.record(z.string(), z.strictObject({ size: z.int(), hash: z.string().length(64) })),
})
export type Note = z.infer<typeof Note>

/** Names the code that makes the directory: what another version of it made is made anew. */
export const recipeHash = async (): Promise<string> => {
  const hash = createHash('sha256')
  for (const name of ['checks.py', 'convert.py', 'requirements.txt'])
    hash.update(await readFile(join(packageRoot(), 'scripts', 'smollm2', name)))
  return hash.digest('hex')
}

const fingerprint = async (file: string): Promise<{ size: number; hash: string }> => {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return { size: (await stat(file)).size, hash: hash.digest('hex') }
}

/** Seals a directory that has all its files. `recipe` names the code that made it. */
export const sealDirectory = async (directory: string, source: string, recipe: string): Promise<void> => {
  const names = (await readdir(directory)).toSorted()
  const files = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await fingerprint(join(directory, name))] as const)),
  )
  const note: Note = { source, recipe, files }
  await writeFile(join(directory, noteFile), `${JSON.stringify(note, null, 2)}\n`)
}

/** What a finished directory says of itself, or what is wrong with it. */
export const readSealed = async (directory: string, recipe: string): Promise<Note | { readonly fault: string }> => {
  let text: string
  try {
    text = await readFile(join(directory, noteFile), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { fault: 'is not there, or not finished' }
    throw error
  }
  const note = Note.safeParse(JSON.parse(text))
  if (!note.success || note.data.recipe !== recipe) return { fault: 'was made by another version of this script' }
  for (const [name, wanted] of Object.entries(note.data.files))
    if (!(await matches(join(directory, name), wanted))) return { fault: `is damaged: ${name}` }
  return note.data
}
