import type { NodeId } from '../../data/records/node.ts'
import type { FactsOf, TargetOf } from '../../data/records/prompt.ts'
import type { FoundAnswer } from './answer.ts'
import type { Grade } from './grade.ts'

/** What a rubric sees of one completion. */
export interface RubricCase<N extends NodeId> {
  readonly answer: FoundAnswer
  readonly facts: FactsOf<N>
  readonly target: TargetOf<N>
  /** Everything the prompt shows, as text. */
  readonly shown: string
}

/** Grades one node's answers from 0 to 1. Pure; never throws. */
export type Rubric<N extends NodeId> = (input: RubricCase<N>) => Grade
