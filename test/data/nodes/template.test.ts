import { describe, expect, test } from 'vitest'
import { fillTemplate, parseTemplate, templateSet } from '../../../data/nodes/template.ts'
import { nodeIds } from '../../../data/records/node.ts'

describe('filling a template', () => {
  test('substitutes in one pass: a value that looks like a placeholder stays', () => {
    expect(fillTemplate('{{a}} {{b}} {{a}}', { a: '{{b}}', b: '$&' })).toBe('{{b}} $& {{b}}')
  })

  test('refuses a placeholder without a value, also one named like an inherited property', () => {
    expect(() => fillTemplate('{{a}}', {})).toThrow('{{a}}')
    expect(() => fillTemplate('{{constructor}}', {})).toThrow('{{constructor}}')
  })

  test('refuses a value without a placeholder', () => {
    expect(() => fillTemplate('text', { spare: 'x' })).toThrow('spare')
  })
})

test('a template file without both messages is refused by name', () => {
  expect(() => parseTemplate('[system]\nonly', 'n9.txt')).toThrow('n9.txt')
})

test.each(nodeIds)('%s keeps every placeholder on a line of its own', (node) => {
  const { system, user } = templateSet(0).templates[node]
  expect(system).not.toContain('{{')
  for (const line of user.split('\n').filter((text) => text.includes('{{'))) expect(line).toMatch(/^\{\{\w+\}\}$/)
})
