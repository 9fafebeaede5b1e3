import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packageRoot } from '../../data/package-root.ts'
import { testEnvironment } from '../../scripts/tooling/suites.mjs'
import { mayLack } from './require.ts'

const there = join(packageRoot(), 'package.json')
const missing = join(packageRoot(), 'no-such-file')

test('tests are skipped for a missing file when they are run by hand, and never under npm test', () => {
  expect(mayLack([there], {})).toBe(false)
  expect(mayLack([there, missing], {})).toBe(true)
  expect(mayLack([there, missing], testEnvironment({}))).toBe(false)
})

test('npm test changes nothing else about the environment', () => {
  expect(testEnvironment({ PATH: '/bin' })).toEqual({ PATH: '/bin', DRIFT_GRPO_REQUIRE: '1' })
})
