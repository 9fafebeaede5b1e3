import { z } from 'zod'
import { defineReward } from '../define-reward.ts'
import { sanityFields } from '../sanity/fields.ts'
import { agreesWithPrompt } from '../sanity/prompt-rules.ts'

/** The fields hold what their names promise and, in the hardened profile, what the prompt itself decides. */
export const reward = defineReward({
  name: 'json_sanity',
  description: 'each field is well formed (hardened: and agrees with what the prompt shows)',
  maximum: 0.6,
  range: [0, 1],
  needs: 'completion',
  caps: z.strictObject({
    /** Words of one list item. */
    itemWords: z.int().min(1).default(20),
    /** Words of the n1 field `why`. */
    whyWords: z.int().min(1).default(50),
  }),
  score: ({ profile, facts, completion: { answer } }, caps) => {
    if (!answer.ok) return { raw: 0, detail: 'no JSON object' }
    const fields = sanityFields[facts.node]
    const wrong = fields.filter(
      ({ key, isSound }) =>
        !isSound(answer.value.get(key), caps) ||
        (profile === 'hardened' && !agreesWithPrompt(key, answer.value, facts)),
    )
    const raw = (fields.length - wrong.length) / fields.length
    return { raw, detail: wrong.length === 0 ? 'sound' : `not sound: ${wrong.map(({ key }) => key).join(', ')}` }
  },
})
