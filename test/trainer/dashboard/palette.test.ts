import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../../data/package-root.ts'
import { nodeIds } from '../../../data/records/node.ts'
import { nodeColours } from '../../../trainer/evaluation/report/palette.ts'

const css = readFileSync(join(packageRoot(), 'trainer/dashboard/page/style.css'), 'utf8')

const variables = [...css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)]
const themes = {
  light: new Map(variables.map(([, name = '', value = '']) => [name, value])),
  dark: new Map(variables.map(([, name = '', , value = '']) => [name, value])),
} as const

const luminance = (colour: string): number => {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
/** WCAG 2's ratio of two colours. */
const contrast = (one: string, other: string): number => {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (high + 0.05) / (low + 0.05)
}

describe.each(Object.entries(themes))('the colours of the %s theme', (name, colours) => {
  const of = (variable: string): string => colours.get(variable) ?? `no ${variable}`

  it.each(['n1', 'n2', 'n3', 'n4', 'n5', 'base', 'trained', 'total', 'loss', 'dead'])('let %s be seen: 3 : 1', (mark) =>
    expect(contrast(of(mark), of('surface'))).toBeGreaterThanOrEqual(3),
  )
  it.each(['ink', 'muted', 'accent', 'warn', 'loss'])('let %s be read: 4.5 : 1', (text) => {
    expect(contrast(of(text), of('surface'))).toBeGreaterThanOrEqual(4.5)
    expect(contrast(of(text), of('ground'))).toBeGreaterThanOrEqual(4.5)
  })
  it.each(['part-0', 'part-1', 'part-2', 'part-3', 'part-4', 'added', 'removed'])('let text be read on %s', (ground) =>
    expect(contrast(of('ink'), of(ground))).toBeGreaterThanOrEqual(4.5),
  )
  it('are those of the reports', () => {
    for (const node of nodeIds)
      expect(of(node)).toBe(nodeColours[node][name === 'light' ? 'light' : 'dark'].toLowerCase())
  })
})
