import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const temporary = new Set<string>()

/** Removes what this file's tests made. vitest ends its workers without an exit event: the end of each file calls this. */
export const removeTemporary = (): void => {
  for (const directory of temporary) rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  temporary.clear()
}
process.once('exit', removeTemporary)

/** A directory that goes when the tests of this file, or this program, end. */
export const temporaryDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'drift-grpo-test-'))
  temporary.add(directory)
  return directory
}
