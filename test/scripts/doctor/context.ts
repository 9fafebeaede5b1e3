import { loadConfig } from '../../../configs/load.ts'
import { packageRoot } from '../../../data/package-root.ts'
import type { Check, DoctorContext, Finding } from '../../../scripts/doctor/check.ts'
import { openContext } from '../../../scripts/doctor/context.ts'
import { examine } from '../../../scripts/doctor/examine.ts'
import { temporaryDirectory } from '../../support/tiny-training.ts'

/** The context of a shipped config in an empty directory, with some facts about the machine made up. */
export const contextWith = async (
  sets: readonly string[] = [],
  facts: Partial<DoctorContext> = {},
  name = 'tiny.yaml',
): Promise<DoctorContext> => {
  const cwd = temporaryDirectory()
  const { config } = await loadConfig({ name, sets, cwd: packageRoot() })
  return { ...openContext(config, { cwd, env: {}, signal: new AbortController().signal }), cwd, ...facts }
}

/** What one check finds, errors included. */
export const find = async (
  check: Check,
  sets: readonly string[] = [],
  facts: Partial<DoctorContext> = {},
  name?: string,
): Promise<Finding> => {
  const [examined] = await examine([check], await contextWith(sets, facts, name))
  if (examined === undefined) throw new Error('nothing was found')
  const { name: _, ...finding } = examined
  return finding
}
