import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { PipelineError, type Boundary } from '../errors.ts'

/** What it means that a file is damaged. */
export interface Damage {
  readonly boundary: Boundary
  readonly remedy: string
}

export const damaged = (path: string, error: unknown, { boundary, remedy }: Damage): PipelineError => {
  const reason = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message
  return new PipelineError(boundary, `${path} cannot be read: ${reason}`, { remedy, cause: error })
}

/** Reads the one JSON value of a file; null where there is no such file. Throws a PipelineError where it is not one of the schema. */
export const readJsonFile = async <T>(path: string, schema: z.ZodType<T>, damage: Damage): Promise<T | null> => {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  try {
    return schema.parse(JSON.parse(text))
  } catch (error) {
    throw damaged(path, error, damage)
  }
}
