import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Refusal } from './stub-protocol.ts'

/** Forgets the oldest entries beyond so many. */
export const forget = (map: Map<unknown, unknown>, most: number): void => {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}

/** A directory that is wholly there or not at all. */
export const writeWhole = (path: string, files: Readonly<Record<string, string>>): void => {
  if (existsSync(path)) throw new Refusal(409, 'Conflict', `${path} exists already`)
  const temporary = join(dirname(path), `.${basename(path)}.tmp`)
  try {
    if (!existsSync(dirname(path))) mkdirSync(dirname(path))
    mkdirSync(temporary)
    for (const [name, text] of Object.entries(files)) writeFileSync(join(temporary, name), text)
    renameSync(temporary, path)
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    // What the file system refuses is not the client's fault.
    throw /^(ENOSPC|EROFS)$/.test(code) ? new Refusal(507, 'StorageFailed', `cannot write ${path}: ${message}`) : error
  } finally {
    if (existsSync(temporary)) rmSync(temporary, { recursive: true, force: true })
  }
}
