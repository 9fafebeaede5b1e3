import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createComposite } from '../../../rewards/composite.ts'
import { RewardsConfig } from '../../../rewards/config.ts'
import { rewardNames } from '../../../rewards/registry.generated.ts'
import { componentsCheck, goldenFaults, readGolden } from '../../../scripts/doctor/checks/components.ts'
import { hubTokenCheck } from '../../../scripts/doctor/checks/hub-token.ts'
import { hubCheck } from '../../../scripts/doctor/checks/hub.ts'
import { judgeCheck } from '../../../scripts/doctor/checks/judge.ts'
import { modelCheck } from '../../../scripts/doctor/checks/model.ts'
import { poolCheck } from '../../../scripts/doctor/checks/pool.ts'
import { samplerCheck } from '../../../scripts/doctor/checks/sampler.ts'
import { vllmProgramCheck } from '../../../scripts/doctor/checks/vllm-program.ts'
import { workerCheck } from '../../../scripts/doctor/checks/worker.ts'
import { fakeServer, type Answer, type RecordedCall } from '../../support/fake-server.ts'
import { hubServer } from '../../support/hub-server.ts'
import { temporaryDirectory } from '../../support/tiny-training.ts'
import { vllmAnswer } from '../../support/vllm-answer.ts'
import { find } from './context.ts'

const failed = (detail: RegExp) => ({
  state: 'fail',
  detail: expect.stringMatching(detail) as unknown,
  remedy: expect.stringMatching(/\S/) as unknown,
})
const nowhere = 'http://127.0.0.1:1'

const open: { close: () => Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})
const serve = async (answer: (call: RecordedCall, number: number) => Answer): Promise<string> => {
  const server = await fakeServer(answer)
  open.push(server)
  return server.url
}

describe('the check of the sampler', () => {
  const vllm = (root: string, lora = 400) => serve(({ route }) => vllmAnswer(route, { root, lora }))
  const check = (url: string, ...sets: string[]) =>
    find(samplerCheck, [`sampling.server={kind: vllm, url: "${url}"}`, ...sets])

  it('passes for a vLLM that serves the model and loads adapters', async () => {
    expect(await check(await vllm('/models/tiny-base'))).toMatchObject({ state: 'ok' })
  })
  it('fails for one that is not there, serves another model, or loads no adapters', async () => {
    expect(await check(nowhere)).toEqual(failed(/does not answer/))
    expect(await check(await vllm('/models/other'))).toEqual(
      failed(/serves \/models\/other as base, and model.path is/),
    )
    expect(await check(await vllm('/models/tiny-base', 404))).toEqual(failed(/does not load adapters/))
  })
  it('looks at each of several', async () => {
    const both = (second: string) => `sampling.server={kind: vllm, url: [${first}, ${second}]}`
    const first = await vllm('/models/tiny-base')
    expect(await find(samplerCheck, [both(await vllm('/m/tiny-base'))])).toMatchObject({ state: 'ok' })
    expect(await find(samplerCheck, [both(nowhere)])).toEqual(failed(/127\.0\.0\.1:1 does not answer/))
  })
  it('fails when its key is not set, or is wrong', async () => {
    const url = await serve(() => ({ status: 401, json: { error: 'Unauthorized' } }))
    expect(await check(url)).toEqual(failed(/Unauthorized/))
    expect(await find(samplerCheck, [`sampling.server={kind: vllm, url: "${url}", tokenEnv: K}`])).toEqual(
      failed(/K is not set/),
    )
  })
})

describe('the check of the worker', () => {
  const attach = (url: string) => ['worker.kind=attach', `worker.url=${url}`]
  const env = { DRIFT_GRPO_TOKEN: 't' }
  it('fails for one that is not there, or refuses the token', async () => {
    expect(await find(workerCheck, attach(nowhere), { env })).toEqual(failed(/does not answer/))
    const url = await serve(() => ({ status: 401, json: { detail: 'bad token' } }))
    expect(await find(workerCheck, attach(url), { env })).toEqual(failed(/bad token/))
    expect(await find(workerCheck, attach(url))).toEqual(failed(/DRIFT_GRPO_TOKEN is not set/))
  })
  it('fails for an interpreter that cannot import what it needs', async () => {
    const python = join(temporaryDirectory(), 'python')
    writeFileSync(python, '#!/bin/sh\necho "ModuleNotFoundError: No module named \'peft\'" >&2\nexit 1\n', {
      mode: 0o755,
    })
    expect(await find(workerCheck, [`worker.python=${python}`])).toMatchObject({
      state: 'fail',
      remedy: expect.stringContaining('The Python package peft is not installed') as unknown,
    })
  })
})

describe('the check of the judge', () => {
  const reply = (content: string): Answer => ({
    json: {
      ...{ id: 'c', object: 'chat.completion', created: 0, model: 'grader' },
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    },
  })
  const check = (url: string) => find(judgeCheck, [`judge={kind: llm, baseUrl: "${url}/v1", model: grader}`])

  it('asks one question twice', async () => {
    expect(await check(await serve(() => reply('cup, pen')))).toMatchObject({ state: 'ok' })
    const drawing = await serve((_, number) => reply(`answer ${number}`))
    expect(await check(drawing)).toMatchObject({
      state: 'warn',
      detail: expect.stringContaining('in two ways') as unknown,
    })
  })
  it('fails when nobody answers', async () => {
    expect(await check(nowhere)).toEqual(failed(/127\.0\.0\.1:1/))
  })
})

describe('the check of', () => {
  it('the model names the files that a directory lacks', async () => {
    const cwd = temporaryDirectory()
    mkdirSync(join(cwd, 'mine'))
    writeFileSync(join(cwd, 'mine', 'config.json'), '{}')
    expect(await find(modelCheck, ['model.path=mine'], { cwd })).toEqual(failed(/no tokenizer_config.json, weights/))
    expect(await find(modelCheck)).toMatchObject({ state: 'ok' })
  })

  it('the hub fails when it does not answer, and asks nobody where no model comes from it', async () => {
    const env = { HF_ENDPOINT: nowhere, HF_HOME: temporaryDirectory() }
    expect(await find(hubCheck, [], { env }, 'granite-2b.yaml')).toEqual(failed(/asking the hub for .* failed: .*/))
    expect(await find(hubCheck, [], { env })).toMatchObject({ state: 'skip' })
  })

  it('the hub covers a pool that comes from it', async () => {
    const env = { HF_HOME: temporaryDirectory(), HF_HUB_OFFLINE: '1' }
    expect(await find(hubCheck, ['pool={kind: hub, repo: me/pool}'], { env })).toEqual(
      failed(/me\/pool@main is not in the cache/),
    )
  })

  it('the hub token says what it may do, fails where it is needed and refused, and is never shown', async () => {
    const token = 'hf_secret_of_this_test'
    const whoami = { type: 'user', name: 'ana', orgs: [], auth: { accessToken: { role: 'read' } } }
    const server = await hubServer({ repo: 'me/pool', commit: 'c'.repeat(40), files: {}, token, whoami })
    open.push(server)
    const env = { HF_ENDPOINT: server.url, HF_HOME: temporaryDirectory(), HF_TOKEN: token }
    const fromHub = ['pool={kind: hub, repo: me/pool}']
    expect(await find(hubTokenCheck, [], { env })).toEqual({ state: 'ok', detail: 'of ana, read: no push' })
    const wrong = { ...env, HF_TOKEN: `${token}x` }
    const refused = await find(hubTokenCheck, fromHub, { env: wrong })
    expect(refused).toEqual(failed(/asking the hub whose token this is failed: Invalid credentials/))
    expect(JSON.stringify(refused)).not.toContain(token)
    expect(await find(hubTokenCheck, [], { env: wrong })).toMatchObject({ state: 'warn' })
    expect(await find(hubTokenCheck, fromHub, { env: { ...env, HF_TOKEN: '' } })).toMatchObject({ state: 'skip' })
    expect(await find(hubTokenCheck, fromHub, { env: { ...env, HF_HUB_OFFLINE: '1' } })).toMatchObject({
      state: 'skip',
    })
    expect(await find(hubTokenCheck, fromHub, { env: { ...env, HF_ENDPOINT: nowhere } })).toEqual(
      failed(/fetch failed/),
    )
  })

  it('the pool fails for a file that is not there', async () => {
    expect(await find(poolCheck, ['pool={kind: file, path: /nowhere/pool.jsonl}'])).toEqual(failed(/nowhere/))
  })

  it('vLLM fails for a program that is not there', async () => {
    const sets = ['sampling.server.command=/nowhere/vllm', 'judge.server.command=/nowhere/vllm']
    expect(await find(vllmProgramCheck, sets, {}, 'granite-2b.yaml')).toEqual(failed(/no program \/nowhere\/vllm/))
  })

  it('the reward components covers all nine, and finds one that was changed', async () => {
    expect(await find(componentsCheck)).toMatchObject({
      state: 'ok',
      detail: expect.stringContaining('all 9') as unknown,
    })
    const composite = createComposite(RewardsConfig.parse({}), true)
    for (const name of rewardNames) {
      expect(readGolden().completions.some(({ expected }) => (expected[name] ?? 0) > 0)).toBe(true)
      const broken: typeof composite.score = (evidence) => {
        const score = composite.score(evidence)
        if (score.kind !== 'scored') return score
        const { weighted, ...rest } = score.components[name]!
        return { ...score, components: { ...score.components, [name]: { ...rest, weighted: weighted + 0.01 } } }
      }
      expect(goldenFaults({ score: broken }).join()).toContain(`${name} gives`)
    }
  })
})
