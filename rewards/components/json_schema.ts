import { z } from 'zod'
import { nodeContracts } from '../../data/records/node.ts'
import { defineReward } from '../define-reward.ts'

/** The answer has exactly the node's keys; half of the Jaccard similarity otherwise. */
export const reward = defineReward({
  name: 'json_schema',
  description: "the object's keys are exactly the node's",
  maximum: 1,
  range: [0, 1],
  needs: 'completion',
  caps: z.strictObject({}),
  score: ({ facts, completion: { answer } }) => {
    if (!answer.ok) return { raw: 0, detail: 'no JSON object' }
    const expected: readonly string[] = nodeContracts[facts.node].answerKeys
    const common = expected.filter((key) => answer.value.has(key)).length
    const union = expected.length + answer.value.size - common
    const raw = common === union ? 1 : (0.5 * common) / union
    return { raw, detail: `${common} of ${expected.length} keys, ${answer.value.size - common} others` }
  },
})
