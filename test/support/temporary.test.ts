import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { removeTemporary, temporaryDirectory } from './temporary.ts'

it('goes with everything in it, and can be made anew', () => {
  const [first, second] = [temporaryDirectory(), temporaryDirectory()]
  writeFileSync(join(first, 'a'), '')
  removeTemporary()
  expect([first, second].map((directory) => existsSync(directory))).toEqual([false, false])
  const third = temporaryDirectory()
  expect(existsSync(third)).toBe(true)
})
