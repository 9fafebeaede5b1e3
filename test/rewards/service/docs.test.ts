import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../../data/package-root.ts'
import { serveRewardsCommand } from '../../../scripts/commands/serve-rewards.ts'
import { appWith, post } from './support.ts'

const text = readFileSync(join(packageRoot(), 'docs/reward-service.md'), 'utf8')
const block = String.raw`\`\`\`json\n([^]*?)\`\`\``
const pair = new RegExp(String.raw`<!-- example: POST (\S+) -->\n${block}[^]*?<!-- reply -->\n${block}`, 'g')

const examples = [...text.matchAll(pair)].map(([, path = '', request = '', reply = '']) => ({ path, request, reply }))

describe('the documentation of the service', () => {
  it('shows every shape', () => {
    expect(examples.map(({ path }) => path)).toStrictEqual(['/v1/score', '/v1/openrlhf', '/v1/slime', '/verify'])
  })

  it.each(examples)('shows what $path answers', async ({ path, request, reply }) => {
    const { status, json } = await post(appWith(), path, request)
    expect(status).toBe(200)
    expect(json).toStrictEqual(JSON.parse(reply))
  })

  it('names routes that exist', () => {
    const known = new Set(appWith().routes.map((route) => route.path))
    const named = [...text.matchAll(/`(?:GET |POST )?(\/(?:v1\/\w+|[a-z_]+(?:\.json)?))`/g)].map(
      ([, path = '']) => path,
    )
    expect(named.length).toBeGreaterThan(8)
    expect(named.filter((path) => !known.has(path))).toStrictEqual([])
  })

  it('names options that exist', () => {
    const commands = [...text.matchAll(/drift-grpo serve-rewards[^`\n]*/g)].join('\n')
    const prose = [...text.matchAll(/`(--(?:host|token|max-body|timeout|stop-token|set|inline|pool)\b)[^`]*`/g)].map(
      ([, option]) => option,
    )
    const named = [...commands.matchAll(/--([a-z-]+)/g), ...prose.join(' ').matchAll(/--([a-z-]+)/g)].map(
      ([, name = '']) => name,
    )
    expect(named.length).toBeGreaterThan(8)
    expect(named.filter((name) => name !== 'help' && !(name in serveRewardsCommand.options))).toStrictEqual([])
  })
})
