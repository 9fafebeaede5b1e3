import type { NodeId } from '../data/records/node.ts'
import type { FactsOf, Prompt, PromptFacts, Target, TargetOf } from '../data/records/prompt.ts'
import { JudgeError, type Judge } from './judge.ts'
import { findAnswer } from './reference/answer.ts'
import type { Rubric } from './reference/case.ts'
import type { Grade } from './reference/grade.ts'
import { gradeVerdict } from './reference/n1.ts'
import { gradeOperations } from './reference/n2.ts'
import { gradeApps } from './reference/n3.ts'
import { gradeRisk } from './reference/n4.ts'
import { gradeDecision } from './reference/n5.ts'

const rubrics: { readonly [N in NodeId]: Rubric<N> } = {
  n1: gradeVerdict,
  n2: gradeOperations,
  n3: gradeApps,
  n4: gradeRisk,
  n5: gradeDecision,
}

const isFactsOf = <N extends NodeId>(node: N, facts: PromptFacts): facts is FactsOf<N> => facts.node === node

const grade = <N extends NodeId>(node: N, target: TargetOf<N>, prompt: Prompt, completion: string): Grade => {
  const { facts } = prompt
  if (!isFactsOf(node, facts))
    throw new JudgeError(`prompt ${prompt.id} has a target of ${node} and facts of ${facts.node}`)
  const answer = findAnswer(node, completion)
  if (answer === null) return { score: 0, reason: 'there is no single readable answer object' }
  const shown = prompt.messages.map((message) => message.content).join('\n')
  return rubrics[node]({ answer, facts, target, shown })
}

/** The prompt's ground truth; a JudgeError when nobody knows it. */
const targetOf = (prompt: Prompt): Target => {
  if (prompt.target === null) {
    throw new JudgeError(`prompt ${prompt.id} has no target, and the reference judge grades against targets only`, {
      remedy: 'Use prompts with labels, or a judge that reads the completion itself.',
    })
  }
  return prompt.target
}

/**
 * The judge without a model: grades a completion against its prompt's target by fixed rubrics of graded criteria.
 * It knows the truth and recognises words, so it is an oracle for training on labelled prompts and for audits of
 * other judges, not a substitute for reading. Same input, same score.
 */
export const referenceJudge: Judge = {
  name: 'reference',
  judge: async ({ prompt, completion }) => {
    const started = performance.now()
    const target = targetOf(prompt)
    const { score, reason } = grade(target.node, target, prompt, completion)
    return { score, reason, model: 'reference', cached: false, latencyMs: performance.now() - started }
  },
}
