import { needsGpu } from '../trainer/memory/plan.ts'
import type { DoctorContext } from './doctor/check.ts'
import { checks } from './doctor/checks.ts'
import { openContext } from './doctor/context.ts'
import { examine, requireFit } from './doctor/examine.ts'

/**
 * What is looked at before a training that uses a GPU: everything that would otherwise come to light one by one, minutes
 * apart, while models load. Throws a PipelineError that lists all that is missing; returns warnings.
 */
export const preflight = async (
  config: DoctorContext['config'],
  surroundings: Pick<DoctorContext, 'cwd' | 'env' | 'signal'>,
): Promise<string[]> => {
  if (!needsGpu(config)) return []
  const context = openContext(config, surroundings)
  return requireFit(
    await examine(
      checks.filter(({ beforeTraining }) => beforeTraining),
      context,
    ),
  )
}
