import { stringify } from 'yaml'
import type { Provenance } from '../../configs/resolve.ts'
import type { Config } from '../../configs/schema.ts'
import { duration } from '../../trainer/progress.ts'
import type { Plan } from './plan.ts'

/** Bytes for people, in powers of ten as disks and downloads are sold. */
export const bytes = (count: number): string => {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const exponent = Math.min(units.length - 1, count < 1 ? 0 : Math.floor(Math.log10(count) / 3))
  const value = count / 1000 ** exponent
  return `${value.toFixed(exponent === 0 || value >= 100 ? 0 : 1)} ${units[exponent] ?? ''}`
}

const count = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 1 })

const sizes = (parts: Readonly<Record<string, number>>): string => {
  const total = Object.values(parts).reduce((sum, part) => sum + part, 0)
  return `${bytes(total)} (${Object.entries(parts)
    .map(([name, part]) => `${name} ${bytes(part)}`)
    .join(', ')})`
}

const unknownModel = 'not known beforehand: the model is no directory here'

/** The plan as lines of text. */
export const renderPlan = (plan: Plan): string => {
  const { tokens, model, memory, disk } = plan
  const epochs = plan.epochs === null ? '' : `, ${count(plan.epochs)} epochs`
  const lines: [string, string][] = [
    [
      'steps',
      `${count(plan.steps)} × ${plan.promptsPerStep} prompts × ${plan.completionsPerStep / plan.promptsPerStep} completions${epochs}`,
    ],
    [
      'tokens a step',
      `at most ${count(tokens.promptsPerStep)} of prompts and ${count(tokens.completionsPerStep)} sampled`,
    ],
    ['tokens in all', `at most ${count(tokens.total)}`],
    [
      'model',
      model === null
        ? unknownModel
        : `${count(model.parameters)} parameters, ${count(model.loraParameters)} more in the adapter`,
    ],
    [
      'memory',
      memory === null
        ? unknownModel
        : `about ${sizes({ ...memory })}, and activations of up to worker.tokenBudget tokens`,
    ],
    ['disk', disk === null ? unknownModel : `at most ${sizes({ ...disk })}`],
    [
      'time',
      plan.seconds === null
        ? 'not known: no earlier run of these settings was found'
        : `about ${duration(plan.seconds)}, as measured in an earlier run`,
    ],
  ]
  return [
    ...lines.map(([name, text]) => `${name.padEnd(14)}${text}`),
    ...plan.warnings.map((text) => `warning: ${text}`),
  ].join('\n')
}

/** The resolved config as YAML, each value with where it came from. */
export const renderConfig = (config: Config, provenance: Provenance): string => {
  const marks = Object.entries(provenance)
    .filter(([, source]) => source !== 'default')
    .map(([path, source]) => `#   ${path}: ${source}`)
  return `${stringify(config).trimEnd()}\n# given, where the others are defaults:\n${marks.join('\n')}`
}
