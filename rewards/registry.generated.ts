// Generated from rewards/components/ by scripts/gen-registry.ts. Do not edit.
import { reward as json_sanity } from './components/json_sanity.ts'
import { reward as json_schema } from './components/json_schema.ts'
import { reward as json_valid } from './components/json_valid.ts'
import { reward as judge } from './components/judge.ts'
import { reward as reasoning_length } from './components/reasoning_length.ts'
import { reward as soft_format } from './components/soft_format.ts'
import { reward as strict_format } from './components/strict_format.ts'
import { reward as total_length } from './components/total_length.ts'
import { reward as xml_count } from './components/xml_count.ts'

/** Every component, by name. */
export const rewardRegistry = {
  json_sanity,
  json_schema,
  json_valid,
  judge,
  reasoning_length,
  soft_format,
  strict_format,
  total_length,
  xml_count,
} as const

/** The components' names, in the order of the registry. */
export const rewardNames = [
  'json_sanity',
  'json_schema',
  'json_valid',
  'judge',
  'reasoning_length',
  'soft_format',
  'strict_format',
  'total_length',
  'xml_count',
] as const

export type RewardName = (typeof rewardNames)[number]
