import { existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { PipelineError } from '../../errors.ts'
import type { EndpointDoc } from '../../records/trajectory.ts'

const ApiDocs = z.record(
  z.string(),
  z.record(
    z.string(),
    z.object({
      description: z.string(),
      parameters: z.object({ properties: z.record(z.string(), z.unknown()).optional() }).optional(),
    }),
  ),
)
type ApiDocs = z.infer<typeof ApiDocs>

const Reversibility = z.record(
  z.string(),
  z.record(
    z.string(),
    z.object({
      kind: z.enum(['READ', 'WRITE', 'SESSION']),
      verdict: z.enum(['reversible', 'not_reversible', 'conditional']),
      inverse: z.string().nullable(),
    }),
  ),
)
type Reversibility = z.infer<typeof Reversibility>

export interface ApiCatalogue {
  /** Documented endpoints. Left out: writes whose reversal depends on more than a prompt can show. */
  readonly docs: EndpointDoc[]
  readonly appOf: ReadonlyMap<string, string>
  readonly isWrite: (app: string, endpoint: string) => boolean
}

const readJson = <T>(path: string, schema: z.ZodType<T>, absent: T): T => {
  if (!existsSync(path)) return absent
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (cause) {
    throw new PipelineError('pool', `${path}: not readable as API documentation`, {
      cause,
      remedy: 'Restore the file.',
    })
  }
}

/** Conditional writes, and those that only another call of themselves undoes, which needs a value seen before. */
const dependsOnMore = (verdict: Reversibility[string][string] | undefined, endpoint: string): boolean =>
  verdict?.verdict === 'conditional' || (verdict?.verdict === 'reversible' && verdict.inverse === endpoint)

const firstSentence = (text: string): string => (text.split(/(?<=\.)\s|\n/, 1)[0] ?? '').trim()

const toDocs = (apis: ApiDocs, verdicts: Reversibility): EndpointDoc[] =>
  Object.entries(apis).flatMap(([app, endpoints]) =>
    Object.entries(endpoints).flatMap(([endpoint, { description, parameters }]) => {
      const verdict = verdicts[app]?.[endpoint]
      if (dependsOnMore(verdict, endpoint)) return []
      const inverse = verdict?.verdict === 'reversible' ? verdict.inverse : null
      const doc: EndpointDoc = {
        app,
        endpoint,
        summary: firstSentence(description),
        kind: verdict?.kind === 'WRITE' ? 'write' : 'read',
        params: Object.keys(parameters?.properties ?? {}),
        undoneBy: inverse === null ? null : `${app}.${inverse}`,
      }
      return [doc]
    }),
  )

/** Reads the documentation of a recorder's tools and a verdict a write on whether it can be undone; both may be absent. */
export const readApiCatalogue = (docsPath: string, reversibilityPath: string): ApiCatalogue => {
  const apis = readJson(docsPath, ApiDocs, {})
  const verdicts = readJson(reversibilityPath, Reversibility, {})
  const pairs = Object.entries(apis).flatMap(([app, endpoints]) =>
    Object.keys(endpoints).map((name) => [name, app] as const),
  )
  return {
    docs: toDocs(apis, verdicts),
    appOf: new Map(pairs),
    isWrite: (app, endpoint) => verdicts[app]?.[endpoint]?.kind === 'WRITE',
  }
}
