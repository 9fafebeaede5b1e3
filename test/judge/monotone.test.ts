import { assert, constantFrom, property, record, shuffledSubarray, subarray } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { f1, type Grade } from '../../judge/reference/grade.ts'
import { gradeApps } from '../../judge/reference/n3.ts'
import { gradeOperations } from '../../judge/reference/n2.ts'
import { gradeRisk } from '../../judge/reference/n4.ts'
import { parseJsonObject } from '../../data/completion/strict-json.ts'
import { formatList } from '../../data/records/operation.ts'

const writes = ['mail.send(to=ana)', 'mail.archive(id=1)', 'shop.order(item=lamp)', 'chat.post(text=visa)'] as const
const reads = ['mail.search(query=visa)', 'shop.search(item=lamp)'] as const

const answerOf = (fields: Readonly<Record<string, string>>) => {
  const result = parseJsonObject(JSON.stringify(fields))
  if (!result.ok) throw new Error(result.reason)
  return { reasoning: 'Step 7 ran mail.send.', value: result.value }
}

const gradeN2 = (w: readonly string[], r: readonly string[]): Grade =>
  gradeOperations({
    answer: answerOf({ write_operations: formatList(w), read_operations: formatList(r) }),
    facts: { node: 'n2', task: 'task', step: 7, operations: [...writes, ...reads], failed: [], isAligned: 'N' },
    target: { node: 'n2', writeOperations: [...writes], readOperations: [...reads] },
    shown: writes.join(' '),
  })

const gradeN3 = (apps: readonly string[]): Grade =>
  gradeApps({
    answer: answerOf({ apps_name: formatList(apps) }),
    facts: { node: 'n3', writes: [...writes] },
    target: { node: 'n3', apps: ['chat', 'mail', 'shop'] },
    shown: writes.join(' '),
  })

const gradeN4 = (reversible: readonly string[], fixed: readonly string[]): Grade =>
  gradeRisk({
    answer: answerOf({ write_reversible: formatList(reversible), write_not_reversible: formatList(fixed) }),
    facts: {
      node: 'n4',
      writes: [...writes],
      inverses: { 'mail.archive': 'mail.unarchive', 'shop.order': 'shop.cancel' },
    },
    target: { node: 'n4', reversible: [writes[1], writes[2]], notReversible: [writes[0], writes[3]] },
    shown: writes.join(' '),
  })

describe('a better answer never scores lower', () => {
  it('n2: adding an operation that belongs there', () => {
    assert(
      property(
        record({ w: subarray([...writes]), r: subarray([...reads]), add: constantFrom(...writes) }),
        ({ w, r, add }) => {
          const better = w.includes(add) ? w : [...w, add]
          expect(gradeN2(better, r).score).toBeGreaterThanOrEqual(gradeN2(w, r).score)
        },
      ),
    )
  })

  it('n2: the right arguments instead of wrong ones', () => {
    assert(
      property(subarray([...writes], { minLength: 1 }), (w) => {
        const worse = [w[0]?.replace('=', '=x') ?? '', ...w.slice(1)]
        expect(gradeN2(w, reads).score).toBeGreaterThan(gradeN2(worse, reads).score)
      }),
    )
  })

  it('n3: adding an app that belongs there', () => {
    assert(
      property(subarray(['chat', 'mail', 'shop', 'files']), constantFrom('chat', 'mail', 'shop'), (apps, add) => {
        const better = apps.includes(add) ? apps : [...apps, add]
        expect(gradeN3(better).score).toBeGreaterThanOrEqual(gradeN3(apps).score)
      }),
    )
  })

  it('n4: moving a write to its side', () => {
    assert(
      property(subarray([...writes]), constantFrom(...writes), (reversible, moved) => {
        const onRight = (list: readonly string[], belongs: boolean): string[] =>
          belongs ? [...new Set([...list, moved])] : list.filter((item) => item !== moved)
        const fixed = writes.filter((write) => !reversible.includes(write))
        const undoable = moved === writes[1] || moved === writes[2]
        const better = gradeN4(onRight(reversible, undoable), onRight(fixed, !undoable))
        expect(better.score).toBeGreaterThanOrEqual(gradeN4(reversible, fixed).score)
      }),
    )
  })
})

describe('f1', () => {
  it('is 1 for the same items in any order, and less for any repeat', () => {
    assert(
      property(shuffledSubarray([...writes], { minLength: 1 }), (items) => {
        expect(f1(items, items.toSorted())).toBe(1)
        expect(f1([...items, items[0] ?? ''], items)).toBeLessThan(1)
      }),
    )
  })

  it('is 1 for two empty lists and 0 for one', () => {
    expect(f1([], [])).toBe(1)
    expect(f1(['a'], [])).toBe(0)
    expect(f1([], ['a'])).toBe(0)
  })
})
