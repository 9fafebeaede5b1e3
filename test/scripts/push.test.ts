import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir, hostname } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { docCommands } from '../support/doc-commands.ts'
import { filesBelow } from '../support/files-below.ts'
import { hubServer, type HubServerOptions } from '../support/hub-server.ts'
import { runInProcess } from '../support/in-process-cli.ts'
import { makeRun } from '../support/published-run.ts'
import { shortPool, shortPrompt, temporaryDirectory } from '../support/tiny-training.ts'

const repo = 'me/my-adapter'
const token = 'hf_planted0in0the0environment0of0this0test'

const open: { close: () => Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})
const serve = async (changes: Partial<HubServerOptions> = {}) => {
  const server = await hubServer({ repo, commit: 'f'.repeat(40), files: {}, isMissing: true, token, ...changes })
  open.push(server)
  const env: NodeJS.ProcessEnv = { HF_ENDPOINT: server.url, HF_TOKEN: token, HF_HOME: temporaryDirectory() }
  return { server, env }
}
const cardOf = (contents: Record<string, string>) => {
  const [, front = '', body = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(contents['README.md'] ?? '') ?? []
  return { front: parse(front) as Record<string, unknown>, body }
}

const makePool = (cwd: string, change: (text: string) => string = (text) => text): void => {
  mkdirSync(join(cwd, 'my-pool'))
  const lines = [...shortPool(5, 0), shortPrompt(0, 'heldout', 'ask 0'), shortPrompt(1, 'heldout', 'ask 1')]
    .map((prompt) => ({ ...prompt, id: undefined, origin: { ...prompt.origin, trajectoryIds: [prompt.split] } }))
    .map((prompt) => `${change(JSON.stringify(prompt))}\n`)
  writeFileSync(join(cwd, 'my-pool', 'pool.jsonl'), lines.join(''))
  writeFileSync(join(cwd, 'my-pool', 'report.json'), JSON.stringify({ source: join(cwd, 'recordings') }))
}

describe('drift-grpo push --run', () => {
  it('publishes adapter, card, config and evaluation', async () => {
    const cwd = temporaryDirectory()
    const snapshot = `/cache/models--ibm--granite/snapshots/${'c'.repeat(40)}`
    const { weights, sha256 } = await makeRun({ id: 'mine', cwd, model: snapshot, sets: ['lora.rank=24'] })
    const { server, env } = await serve()
    const { code, stdout, stderr } = await runInProcess(['push', '--run', 'mine', '--repo', repo, '--json'], cwd, env)
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ dryRun: false, repo, type: 'model', created: true, commit: 'f'.repeat(40), url: `${server.url}/${repo}` },
    })
    const contents = server.contents()
    expect(Object.keys(contents).toSorted()).toEqual([
      'README.md',
      'adapter_config.json',
      'adapter_model.safetensors',
      'config.resolved.json',
      'evaluation.json',
    ])
    expect(contents['adapter_model.safetensors']).toBe(weights)
    expect(JSON.parse(contents['adapter_config.json'] ?? '')).toEqual({
      ...{ base_model_name_or_path: 'ibm/granite', revision: 'c'.repeat(40), peft_type: 'LORA', r: 16 },
    })
    const { front, body } = cardOf(contents)
    expect(front).toMatchObject({ base_model: 'ibm/granite', library_name: 'peft' })
    expect(front['tags']).toContain('base_model:adapter:ibm/granite')
    expect(body).toContain(`sha256 ${sha256}`)
    // vLLM can be started for a few ranks only.
    expect(body).toContain('--max-lora-rank 32 ')
    expect(body).toMatch(/\| all \| 100 \| [\d.]+ \| [\d.]+ \| \+/)
    expect(JSON.parse(contents['evaluation.json'] ?? '')).toMatchObject({ name: 'final', adapter: { sha256 } })
  })

  it('lists everything in a dry run, without a token and without the hub', async () => {
    const cwd = temporaryDirectory()
    await makeRun({ id: 'mine', cwd })
    const env = { HF_ENDPOINT: 'http://127.0.0.1:9', HF_HOME: temporaryDirectory() }
    const args = ['push', '--run', 'runs/mine', '--repo', repo, '--dry-run']
    const { code, stdout, stderr } = await runInProcess(args, cwd, env)
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/adapter_model\.safetensors +300005/),
    })
    expect(stdout).toContain('library_name: peft')
    expect(stderr).toContain('dry run: nothing was sent')
    expect(stderr).toContain('warning: the base toy is not on the hub')
  })

  it('says that weights were not evaluated, and names no evaluation of others', async () => {
    const cwd = temporaryDirectory()
    const { root } = await makeRun({ id: 'mine', cwd, evaluated: true })
    writeFileSync(join(root, 'adapters/v000009/adapter_model.safetensors'), 'other weights')
    const { stdout, stderr } = await runInProcess(['push', '--run', 'mine', '--repo', repo, '--dry-run'], cwd, {})
    expect(stdout).toContain('were not evaluated')
    expect(stdout).not.toContain('evaluation.json')
    expect(stderr).toContain('drift-grpo eval --run mine --checkpoint 9')
  })

  it('tells nothing of this machine: directories, servers, names', async () => {
    const cwd = temporaryDirectory()
    const sets = [
      'run.dir=/home/someone/my runs',
      'judge={kind: llm, baseUrl: "http://user:pw@gpu-7.lab.internal:8001/v1", model: m, apiKeyFile: /home/someone/key}',
      'worker.python=~/venv/bin/python',
      'pool={kind: file, path: ../private/pool.jsonl}',
    ]
    await makeRun({ id: 'mine', cwd, sets })
    const { server, env } = await serve()
    const { code, stderr } = await runInProcess(['push', '--run', 'mine', '--repo', repo], cwd, env)
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
    const sent = Object.entries(server.contents()).filter(([path]) => !path.endsWith('.safetensors'))
    expect(sent.length).toBeGreaterThan(3)
    for (const [path, text] of sent)
      for (const local of [
        cwd,
        homedir(),
        hostname(),
        '/home',
        'someone',
        'gpu-7',
        'user:pw',
        '../',
        '~/',
        '/somewhere',
      ])
        expect({ path, local, found: text.includes(local) }).toEqual({ path, local, found: false })
    const { values, provenance } = JSON.parse(server.contents()['config.resolved.json'] ?? '') as {
      values: { run: { dir: string }; judge: { baseUrl: string } }
      provenance: Record<string, string>
    }
    expect(values).toMatchObject({ run: { dir: 'runs' }, judge: { baseUrl: 'http://elsewhere/v1' } })
    expect(provenance['model.path']).toBe('mine.yaml:2:9')
  })

  it('refuses a config that holds a token, without showing it', async () => {
    const planted = `hf_${'x'.repeat(34)}`
    const cwd = temporaryDirectory()
    await makeRun({ id: 'mine', cwd, sets: [`worker={kind: attach, url: "http://127.0.0.1:1", tokenEnv: ${planted}}`] })
    const { server, env } = await serve()
    const { code, stdout, stderr } = await runInProcess(['push', '--run', 'mine', '--repo', repo], cwd, env)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/config\.resolved\.json:\d+ holds what looks like a token of the hub; nothing was sent/)
    expect(stderr).not.toContain(planted)
    expect(server.requests).toEqual([])
  })

  it('never shows the token, whatever fails', async () => {
    const cwd = temporaryDirectory()
    await makeRun({ id: 'mine', cwd })
    const echo = { status: 403, error: `token ${token} may not write` }
    const outcomes = []
    for (const at of [/revision/, /create/, /preupload/, /batch/, /PUT/, /commit/]) {
      const { env } = await serve({ faults: [{ at, with: echo }] })
      const args = ['push', '--run', 'mine', '--repo', repo, '--json']
      outcomes.push(await runInProcess(args, cwd, { ...env, DRIFT_GRPO_DEBUG: '1' }))
    }
    for (const { code, stdout, stderr } of outcomes) {
      expect(code).toBe(3)
      expect(stderr).toContain('token *** may not write')
      expect(stdout + stderr).not.toContain(token)
    }
    expect(filesBelow(cwd).filter((file) => readFileSync(file, 'latin1').includes(token))).toEqual([])
  })

  it.each([
    [['--run', 'mine', '--repo', 'no-owner'], 'is no name of a repository'],
    [['--run', 'mine', '--repo', 'a/../b'], 'is no name of a repository'],
    [['--repo', repo], 'give --run RUN or --pool DIRECTORY'],
    [['--run', 'mine', '--pool', 'p', '--repo', repo], 'mutually exclusive'],
    [['--run', 'nowhere', '--repo', repo], 'there is no run nowhere'],
    [['--run', 'mine', '--checkpoint', '7', '--repo', repo], 'no checkpoint after 7 steps'],
    [['--pool', 'p', '--checkpoint', '7', '--repo', repo], '--checkpoint goes with --run'],
    [['--pool', 'nowhere', '--repo', repo], 'no such pool'],
  ])('%j is refused', async (args, message) => {
    const cwd = temporaryDirectory()
    await makeRun({ id: 'mine', cwd, evaluated: false })
    const { code, stdout, stderr } = await runInProcess(['push', ...args], cwd, {})
    expect(stderr).toContain(message)
    expect(stderr).not.toContain('unexpected error')
    expect({ code: code === 2 || code === 3, stdout }).toEqual({ code: true, stdout: '' })
  })

  it('without a token says how to give one', async () => {
    const cwd = temporaryDirectory()
    await makeRun({ id: 'mine', cwd })
    const { code, stderr } = await runInProcess(['push', '--run', 'mine', '--repo', repo], cwd, {
      HF_HOME: temporaryDirectory(),
    })
    expect(code).toBe(3)
    expect(stderr).toContain('Set HF_TOKEN')
  })
})

describe('drift-grpo push --pool', () => {
  it('and --run are what docs/hub.md shows', async () => {
    const cwd = temporaryDirectory()
    await makeRun({ id: 'mine', cwd, evaluated: false })
    makePool(cwd)
    const shown = docCommands('docs/hub.md')
    expect(shown.length).toBeGreaterThan(2)
    for (const { args } of shown) {
      const wanted = args.includes('best') ? args.map((arg) => (arg === 'best' ? '9' : arg)) : args
      const { code, stderr } = await runInProcess(
        [...wanted, ...(args.includes('--dry-run') ? [] : ['--dry-run'])],
        cwd,
        {},
      )
      expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' })
    }
  })

  it('publishes a dataset that a config can name', async () => {
    const cwd = temporaryDirectory()
    makePool(cwd)
    const { server, env } = await serve({ type: 'dataset' })
    const { code, stdout } = await runInProcess(['push', '--pool', 'my-pool', '--repo', repo], cwd, env)
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${server.url}/datasets/${repo}\n` })
    const contents = server.contents()
    expect(contents['pool.jsonl']).toBe(readFileSync(join(cwd, 'my-pool', 'pool.jsonl'), 'utf8'))
    expect(contents['report.json']).toContain('"source": "recordings"')
    expect(contents['README.md']).toContain('| n1 classify\\_drift | 1 | 1 | 0 |')
    const args = ['train', '--config', 'tiny.yaml', '--dry-run', '--set', `pool={kind: hub, repo: ${repo}}`]
    const planned = await runInProcess(args, cwd, env)
    expect(planned.stderr).toContain(`${repo}@main of the hub is not in the cache`)
    expect(planned.code).toBe(0)
  })

  it.each([
    ['a directory of this machine', (cwd: string) => join(cwd, 'my-pool', 'x'), 'names a directory of this machine'],
    ['a key', () => `sk-${'a1'.repeat(20)}`, 'holds what looks like an API key'],
    ['a value of the environment', () => 'the-value-of-a-secret', 'a secret of the environment'],
  ])('refuses a pool that holds %s', async (_, planted, message) => {
    const cwd = temporaryDirectory()
    makePool(cwd, (text) => text.replace('say 3', `say ${planted(cwd)}`))
    const { server, env } = await serve({ type: 'dataset' })
    const { code, stderr } = await runInProcess(['push', '--pool', 'my-pool', '--repo', repo], cwd, {
      ...env,
      MY_API_KEY: 'the-value-of-a-secret',
    })
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
    expect(stderr).toMatch(/pool\.jsonl:4 /)
    expect(server.requests).toEqual([])
  })
})
