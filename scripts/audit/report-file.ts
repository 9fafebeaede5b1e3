import { join } from 'node:path'
import type { RunDirectory } from '../../trainer/run-directory.ts'

/** The report in a directory. */
export const auditFileIn = (directory: string): string => join(directory, 'audit.json')

/** Where a run keeps the audit of its judge. */
export const auditFile = (run: RunDirectory): string => auditFileIn(run.at('audit'))
