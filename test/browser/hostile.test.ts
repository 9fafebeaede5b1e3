import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { inBrowser, mayLackBrowser, watchedPage } from '../support/browser.ts'
import { dashboardInBrowser } from '../support/dashboard-in-browser.ts'
import { makeShownRuns } from '../support/shown-run.ts'

/** What would run, load or break out where text became markup. */
const attacks = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(2)>',
  '"><svg onload=alert(3)>',
  "'-alert(4)-'",
  '<iframe srcdoc="<script>parent.alert(5)</script>"></iframe>',
  '<a href="javascript:alert(6)">x</a>',
  '</title></style></textarea></pre><script>alert(7)</script>',
  '<style>*{display:none}</style>',
  '<meta http-equiv=refresh content="0;url=https://example.invalid">',
  '${alert(8)}{{constructor.constructor("alert(9)")()}}',
  '\u202e\u2066<b>\u0000',
  '<form action=https://example.invalid><button autofocus>',
]
const attack = attacks.join('\n')
const name = '<img src=x onerror=alert(0)>'

/** Puts the attack wherever a run holds text that somebody else wrote. */
const poison = (value: unknown, key = ''): unknown => {
  if (Array.isArray(value)) return value.map((one) => poison(one, key))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([inner, one]) => [inner, poison(one, inner)]))
  const hostile = [
    'text',
    'reason',
    'detail',
    'message',
    'content',
    'title',
    'rule',
    'plain',
    'doctored',
    'host',
    'architecture',
    'judge',
    'path',
    'model',
    'findings',
    'warnings',
  ]
  return typeof value === 'string' && hostile.includes(key) ? attack : value
}

const poisonFile = async (path: string): Promise<void> => {
  const text = await readFile(path, 'utf8')
  const isLines = path.endsWith('.jsonl')
  const documents = isLines ? text.trim().split('\n') : [text]
  const hostile = documents.map((one) => JSON.stringify(poison(JSON.parse(one))))
  await writeFile(path, isLines ? `${hostile.join('\n')}\n` : (hostile[0] ?? ''))
}

describe.skipIf(mayLackBrowser())(`hostile text in a run ${inBrowser}`, () => {
  const shown = dashboardInBrowser(async () => {
    const runs = await makeShownRuns(name)
    const rollouts = await readdir(join(runs.run, 'rollouts'))
    const files = [
      ...['events.jsonl', 'attempts.jsonl', 'meta.json', 'audit/audit.json'],
      ...['base', 'trained', 'prompts'].map((file) => `eval/final/${file}.jsonl`),
      ...rollouts.map((file) => `rollouts/${file}`),
    ]
    for (const file of files) await poisonFile(join(runs.run, file))
    const config = { values: { [attack]: attack, rewards: { maxima: { judge: 1 } } }, provenance: {} }
    await writeFile(join(runs.run, 'config.resolved.json'), JSON.stringify(config))
    return runs
  })

  it('is there, word for word', async () => {
    const { page, open } = await watchedPage(shown.browser)
    await open(`${shown.server.url}/runs/${encodeURIComponent(name)}/rollouts/59/0`)
    const words = await page.locator('main').textContent()
    for (const one of attacks) expect(words).toContain(one)
    await page.context().close()
  })
  it.each([
    '/',
    '/overview',
    '/nodes',
    '/components',
    '/rollouts',
    '/rollouts?text=%3Cscript%3E',
    '/rollouts/59/0?sample=1',
    '/evaluation',
    '/judge',
    `/${encodeURIComponent(name)}`,
    '/rollouts?node=%3Cscript%3Ealert(1)%3C/script%3E',
  ])('is only text on %s', async (path) => {
    const { page, problems, open } = await watchedPage(shown.browser)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.addInitScript(() => {
      const found: string[] = []
      Object.assign(globalThis, { violations: found })
      document.addEventListener('securitypolicyviolation', (event) => found.push(event.violatedDirective))
    })
    await open(path === '/' ? shown.server.url : `${shown.server.url}/runs/${encodeURIComponent(name)}${path}`)
    for (const details of await page.locator('main details summary').all()) await details.click()
    const made = await page.evaluate(() => ({
      scripts: document.querySelectorAll('script').length,
      foreign: document.querySelectorAll('main :is(img, iframe, object, embed, style, meta, base)').length,
      handlers: [...document.querySelectorAll('main *')].filter((one) =>
        [...one.attributes].some((a) => a.name.startsWith('on')),
      ).length,
      addresses: [...document.querySelectorAll('a[href]')].filter((one) =>
        /^\s*(javascript|data):/i.test(one.getAttribute('href') ?? ''),
      ).length,
      violations: (globalThis as unknown as { violations: string[] }).violations,
    }))
    expect(made).toEqual({ scripts: 1, foreign: 0, handlers: 0, addresses: 0, violations: [] })
    expect(asked.filter((address) => !address.startsWith(shown.server.url))).toEqual([])
    // A filter that does not exist is refused with words; that is no fault of the page.
    expect(problems.filter((problem) => !problem.includes('400 (Bad Request)'))).toEqual([])
    await page.context().close()
  })
})
