import type { Config } from '../../configs/schema.ts'
import { PipelineError } from '../../data/errors.ts'
import type { AuditReport } from '../../data/records/audit.ts'
import { writeJsonAtomic } from '../../data/store/atomic.ts'
import { auditJudge, planAudit } from '../../judge/audit/audit.ts'
import type { JudgeSurroundings } from '../../judge/create.ts'
import type { RunDirectory } from '../../trainer/run-directory.ts'
import { auditFile } from './report-file.ts'
import { prepareAudit } from './prepare.ts'

const repeats = 5

/**
 * The short audit of a judge that is a language model, before it decides about rewards. Throws a PipelineError when the
 * judge fails and the config requires that it does not. Null: nothing was asked (another kind of judge, or switched off).
 */
export const auditBeforeTraining = async (
  config: Pick<Config, 'judge' | 'rewards'>,
  surroundings: JudgeSurroundings,
  say: (text: string) => void,
): Promise<AuditReport | null> => {
  const { judge } = config
  if (judge.kind !== 'llm' || judge.audit === 'off') return null
  const request = prepareAudit({ config, form: 'short', completions: null, repeats, surroundings, say })
  const { first, repeats: again } = planAudit(request)
  say(`audit of the judge: ${first + again} questions (judge.audit: ${judge.audit})`)
  const report = await auditJudge(request)
  if (report.verdict === 'finding' && judge.audit === 'require') {
    const findings = report.findings.map((finding) => `\n  ${finding}`).join('')
    throw new PipelineError('judge', `${report.judge} failed its audit:${findings}`, {
      remedy: 'See drift-grpo audit for all of it. Take another judge, or train all the same with judge.audit: warn.',
    })
  }
  say(`audit of the judge: ${report.verdict}`)
  return report
}

/** What an audit adds to the warnings of a run. */
export const auditWarnings = (report: AuditReport | null): string[] =>
  report === null ? [] : [...report.findings, ...report.warnings].map((text) => `judge audit: ${text}`)

/** Keeps the report with the run that it belongs to. */
export const storeAudit = async (run: RunDirectory, report: AuditReport | null): Promise<void> => {
  if (report !== null) await writeJsonAtomic(auditFile(run), report)
}
