import { auditJudge, type AuditRequest } from '../../../judge/audit/audit.ts'
import { readTwinSuites } from '../../../judge/audit/twins.ts'
import type { AuditReport, AuditSuite } from '../../../data/records/audit.ts'
import type { JudgeRequest, OpenJudge } from '../../../judge/judge.ts'
import { referenceJudge } from '../../../judge/reference.ts'

export const suites = readTwinSuites()

/** A judge that follows a script. */
export const scripted = (score: (request: JudgeRequest) => number | Promise<number>, name = 'scripted'): OpenJudge => ({
  name,
  judge: async (request) => ({ score: await score(request), reason: '', model: name, cached: false, latencyMs: 0 }),
  close: async () => undefined,
})

/** What a judge says that reads with care: the grade from the targets. */
export const honest = async (request: JudgeRequest): Promise<number> => (await referenceJudge.judge(request)).score

/** Audits a judge on the twins alone, unless told otherwise. */
export const audit = (judge: OpenJudge, changes: Partial<AuditRequest> = {}): Promise<AuditReport> =>
  auditJudge({
    form: 'full',
    openJudge: () => Promise.resolve(judge),
    suites,
    samples: [],
    completionsFrom: 'nowhere',
    repeats: 0,
    ...changes,
  })

export const suiteOf = ({ suites: all }: AuditReport, name: string): AuditSuite => {
  const suite = all.find((one) => one.name === name)
  if (suite === undefined) throw new Error(`no suite ${name}`)
  return suite
}
