import { readInteger, readList, readObject, readText } from '../../data/completion/fields.ts'
import type { JsonValue } from '../../data/completion/strict-json.ts'
import { countWords } from '../../data/completion/text.ts'
import type { NodeId } from '../../data/records/node.ts'
import { decisionActions } from '../../data/records/prompt.ts'

interface SanityCaps {
  readonly itemWords: number
  readonly whyWords: number
}

/** One field of a node's answer. All fields of a node weigh the same. */
interface SanityField {
  readonly key: string
  /** True when the value could be an answer, whatever the prompt says. */
  readonly isSound: (value: JsonValue | undefined, caps: SanityCaps) => boolean
}

const list = (key: string): SanityField => ({
  key,
  isSound: (value, caps) => readList(value)?.every((item) => countWords(item) <= caps.itemWords) ?? false,
})

/** What each node's fields must hold; the whole of sanity in the paper profile. */
export const sanityFields = {
  n1: [
    { key: 'step', isSound: (value) => readInteger(value) !== null },
    { key: 'is_aligned', isSound: (value) => value === 'Y' || value === 'N' },
    {
      key: 'why',
      isSound: (value, caps) => {
        const why = readText(value)
        return why !== null && countWords(why) <= caps.whyWords
      },
    },
  ],
  n2: [list('write_operations'), list('read_operations')],
  n3: [list('apps_name')],
  n4: [list('write_reversible'), list('write_not_reversible')],
  n5: [
    { key: 'action', isSound: (value) => decisionActions.some((action) => action === value) },
    { key: 'arguments', isSound: (value) => readObject(value) !== null },
  ],
} as const satisfies Record<NodeId, readonly SanityField[]>
