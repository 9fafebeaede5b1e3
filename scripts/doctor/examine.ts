import { PipelineError } from '../../data/errors.ts'
import type { Check, DoctorContext, Finding } from './check.ts'

export type Examined = { readonly name: string } & Finding

/** An expected failure inside a check is its finding; so is a refusal of the system. */
const findingOf = (error: unknown): Finding => {
  const remedy = error instanceof PipelineError ? error.remedy : undefined
  return { state: 'fail', detail: (error as Error).message, remedy: remedy ?? 'See the message.' }
}

const examineOne = async (check: Check, context: DoctorContext): Promise<Examined> => {
  try {
    return { name: check.name, ...(await check.run(context)) }
  } catch (error) {
    context.signal.throwIfAborted()
    return { name: check.name, ...findingOf(error) }
  }
}

/** Runs checks side by side; findings come in the order of the checks. */
export const examine = (checks: readonly Check[], context: DoctorContext): Promise<Examined[]> =>
  Promise.all(checks.map((check) => examineOne(check, context)))

/** Throws one PipelineError that lists every failure with its remedy; returns the warnings otherwise. */
export const requireFit = (findings: readonly Examined[]): string[] => {
  const failed = findings.flatMap((finding) => (finding.state === 'fail' ? [finding] : []))
  if (failed.length > 0) {
    const lines = failed.map(({ name, detail, remedy }) => `  - ${name}: ${detail}\n      ${remedy}`)
    const things = failed.length === 1 ? 'one thing is' : `${failed.length} things are`
    throw new PipelineError('setup', `this run cannot start here: ${things} missing\n${lines.join('\n')}`, {
      remedy: 'train --dry-run prints the plan all the same; drift-grpo doctor examines the rest.',
    })
  }
  return findings.flatMap((finding) => (finding.state === 'warn' ? [`${finding.name}: ${finding.detail}`] : []))
}
