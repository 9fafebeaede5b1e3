import { XMLValidator } from 'fast-xml-parser'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadEvaluation } from '../../../../trainer/evaluation/load.ts'
import { reportContent, type ReportContent } from '../../../../trainer/evaluation/report/content.ts'
import { writeReport } from '../../../../trainer/evaluation/report/write.ts'
import { randomSamples, writeEvaluation } from '../../../support/evaluations.ts'
import { temporaryDirectory } from '../../../support/tiny-training.ts'

const hostile = '</title><script>alert(1)</script> | `x` "&\u0000'

describe('a report', () => {
  const out = join(temporaryDirectory(), 'report')
  let content: ReportContent
  let html = ''

  beforeAll(async () => {
    mkdirSync(out, { recursive: true })
    const base = randomSamples('base', 0.4, { prompts: 10 })
    const trained = randomSamples('trained', 0.8, { prompts: 10 })
    const directory = writeEvaluation(join(out, '..', 'eval'), base, trained, { judge: hostile })
    content = reportContent(hostile, await loadEvaluation(directory))
    await writeReport(out, content)
    html = readFileSync(join(out, 'report.html'), 'utf8')
  })

  it('has the figures that people compare, each with its picture and its table', () => {
    const names = ['global-reward', 'delta-histogram', 'reward-by-node', 'judge-by-node', 'components', 'delta-curve']
    expect(content.figures.map(({ id }) => id)).toStrictEqual(names)
    const files = readdirSync(out)
    for (const { id, table } of content.figures)
      expect(files).toEqual(expect.arrayContaining([`${id}.svg`, `${table.id}.csv`]))
    expect(files).toEqual(expect.arrayContaining(['report.html', 'report.md', 'all-results.csv', 'all-prompts.csv']))
  })

  it('has pictures that are whole, and say in words what they show', () => {
    for (const { id, svg, caption } of content.figures) {
      expect(XMLValidator.validate(svg)).toBe(true)
      expect(svg).toContain(`aria-labelledby="${id}-title ${id}-desc"`)
      expect(svg).toContain(`<title id="${id}-title">`)
      expect(caption.length).toBeGreaterThan(30)
      // Base and trained differ in more than colour.
      expect(svg).toContain('stroke-dasharray')
    }
  })

  it('gives every prompt a mark whose shape is its node’s', () => {
    const { svg } = content.figures.at(-1)!
    expect(svg.match(/<circle class="n1"/g)).toHaveLength(10 + 1)
    for (const node of ['n2', 'n3', 'n4', 'n5']) {
      expect(svg.match(new RegExp(`<path class="${node}"`, 'g'))).toHaveLength(10 + 1)
    }
  })

  it('is one HTML file that needs no script and loads nothing', () => {
    expect(html).not.toMatch(/<script|<link|<img|<iframe|\son\w+=|url\(|@import|javascript:/i)
    // Names of XML are no addresses that anybody fetches.
    expect(html.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:/)
    expect(html).toContain(`default-src 'none'`)
    expect(html.match(/<details>/g)).toHaveLength(content.figures.length)
    expect(html).toMatch(/<html lang="en">/)
  })

  it('has ids that are all different and references that all lead somewhere', () => {
    const ids = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const referred = [...html.matchAll(/aria-labelledby="([^"]+)"/g)].flatMap(([, list = '']) => list.split(' '))
    expect(referred.filter((id) => !ids.includes(id))).toStrictEqual([])
  })

  it('shows names as text, whatever is in them', () => {
    expect(html).toContain('&lt;/title&gt;&lt;script&gt;')
    expect(readFileSync(join(out, 'report.md'), 'utf8')).not.toContain('<script>')
  })

  it('has the verdict of the gate, in its words', () => {
    expect(content.headline).toBe('PASS: no regression in 12 tests at alpha 0.01')
    expect(html).toContain(content.headline)
  })

  it('gives all digits in the CSV files, one line a prompt and a result', () => {
    const prompts = readFileSync(join(out, 'all-prompts.csv'), 'utf8').trimEnd().split('\r\n')
    expect(prompts).toHaveLength(1 + 50)
    expect(prompts[0]).toBe('prompt_id,node,base,trained,delta')
    const [, , base, trained, delta] = prompts[1]!.split(',').map(Number)
    expect(trained! - base!).toBeCloseTo(delta!, 12)
    const results = readFileSync(join(out, 'all-results.csv'), 'utf8').trimEnd().split('\r\n')
    expect(results).toHaveLength(1 + content.statistics.results.length)
  })

  it('is the same when it is made again', async () => {
    const directory = join(out, '..', 'eval')
    const again = join(out, '..', 'again')
    await writeReport(again, reportContent(hostile, await loadEvaluation(directory)))
    for (const file of readdirSync(out)) {
      expect(readFileSync(join(again, file), 'utf8')).toBe(readFileSync(join(out, file), 'utf8'))
    }
  })
})
