import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/**
 * Every file below a directory whose name has the ending, as sorted paths.
 * @param {string} directory
 * @param {string} ending
 * @returns {string[]}
 */
export function filesBelow(directory, ending) {
  if (!existsSync(directory)) return []
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .toSorted()
    .map((name) => join(directory, name))
}

/**
 * One hash over names and contents. Contents, not times, and names below the root: a fresh clone, a copied tree and a
 * checkout that was moved count as unchanged.
 * @param {string} root
 * @param {readonly string[]} files
 */
export function hashFiles(root, files) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(relative(root, file)).update('\0').update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}

/**
 * The stamp that an earlier set-up left, or an empty string.
 * @param {string} file
 */
export function readStamp(file) {
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
}
