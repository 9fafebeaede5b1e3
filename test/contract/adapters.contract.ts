import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { ask, askUnderWay, choicesOf, idsOf, logprobsOf, prompt, score, worst } from './ask.ts'
import { errorOf, type Completions, type Reply } from './http-client.ts'
import type { SamplerTarget } from './target.ts'

interface Card {
  readonly id: string
  readonly root: string
  readonly parent: string | null
}

export const adapterContract = (target: () => SamplerTarget): void => {
  /** Names that a test loaded: the server may be somebody's. */
  const loaded: string[] = []
  const load = async (name: string, directory: string): Promise<Reply> => {
    const { http, models } = target()
    const reply = await http.post('/v1/load_lora_adapter', { lora_name: name, lora_path: join(models, directory) })
    if (reply.status === 200) loaded.push(name)
    return reply
  }
  const unload = async (name: string): Promise<Reply> =>
    await target().http.post('/v1/unload_lora_adapter', { lora_name: name })
  const cards = async (): Promise<Card[]> => JSON.parse((await target().http.get('/v1/models')).text).data
  const loadFailure = async (directory: string): Promise<string> => {
    const reply = await load('faulty', directory)
    expect(reply.status).toBe(500)
    expect(errorOf(reply).type).toBe('InternalServerError')
    return errorOf(reply).message
  }

  afterEach(async () => {
    await Promise.all(loaded.splice(0).map(unload))
  })

  test('an adapter is loaded, listed, sampled from, unloaded and then unknown', async () => {
    const added = await load('contract-1', 'adapter-1')
    expect(added).toEqual({
      status: 200,
      contentType: null,
      text: "Success: LoRA adapter 'contract-1' added successfully.",
    })
    expect((await cards()).find((card) => card.id === 'contract-1')).toMatchObject({
      root: join(target().models, 'adapter-1'),
      parent: target().model,
    })
    const ids = await idsOf(target(), { model: 'contract-1', n: 2, ignore_eos: true })
    expect(ids).not.toEqual(await idsOf(target(), { n: 2, ignore_eos: true }))
    expect(await unload('contract-1')).toMatchObject({
      status: 200,
      text: "Success: LoRA adapter 'contract-1' removed successfully.",
    })
    expect((await cards()).map((card) => card.id)).not.toContain('contract-1')
    const reply = await ask(target(), { model: 'contract-1' })
    expect(errorOf(reply)).toMatchObject({ type: 'NotFoundError', param: 'model', code: 404 })
    expect(errorOf(reply).message).toMatch(/^The model `contract-1` does not exist\./)
  })

  test('base and two adapters are three policies, also when asked at once', async () => {
    await load('contract-1', 'adapter-1')
    await load('contract-2', 'adapter-2')
    const names = [target().model, 'contract-1', 'contract-2']
    const tokens = Array.from({ length: 40 }, (_, i) => 3 + ((i * 17) % 200))
    const alone: number[][] = []
    for (const model of names) alone.push(await score(target(), tokens, { model }))
    const [base = [], first = [], second = []] = alone
    for (const [a, b] of [
      [base, first],
      [base, second],
      [first, second],
    ] as const)
      expect(worst(a, b)).toBeGreaterThan(0.5)
    const together = await Promise.all(names.map(async (model) => await score(target(), tokens, { model })))
    together.forEach((scores, i) => expect(worst(scores, alone[i] ?? [])).toBeLessThan(1e-4))
  })

  test('samples of an adapter are scored alike by that adapter only', async () => {
    await load('contract-1', 'adapter-1')
    const [choice] = await choicesOf(target(), { model: 'contract-1', max_tokens: 32, ignore_eos: true })
    const tokens = [...prompt, ...(choice?.token_ids ?? [])]
    const own = (await score(target(), tokens, { model: 'contract-1' })).slice(prompt.length - 1)
    const base = (await score(target(), tokens)).slice(prompt.length - 1)
    expect(worst(logprobsOf(choice), own)).toBeLessThan(1e-4)
    expect(worst(logprobsOf(choice), base)).toBeGreaterThan(0.5)
  })

  test('a name in use is refused', async () => {
    await load('contract-1', 'adapter-1')
    const reply = await load('contract-1', 'adapter-2')
    expect(errorOf(reply)).toEqual({
      message:
        "The lora adapter 'contract-1' has already been loaded. If you want to load the adapter in place, set 'load_inplace' to True.",
      type: 'InvalidUserInput',
      param: null,
      code: 400,
    })
  })

  test('unknown names, missing paths and empty names', async () => {
    const unknown = {
      message: "The lora adapter 'nope' cannot be found.",
      type: 'NotFoundError',
      param: null,
      code: 404,
    }
    expect(errorOf(await unload('nope'))).toEqual(unknown)
    const missing = errorOf(await load('contract-x', 'not-there'))
    expect(missing).toMatchObject({ type: 'NotFoundError', code: 404 })
    expect(missing.message).toMatch(/^Loading lora contract-x failed: No adapter found for /)
    const message = "Both 'lora_name' and 'lora_path' must be provided."
    expect(errorOf(await load('', 'adapter-1'))).toEqual({ message, type: 'InvalidUserInput', param: null, code: 400 })
  })

  test('adapters that cannot be used are refused with the reason, and nothing stays behind', async () => {
    expect(await loadFailure('adapter-dora')).toContain("failed with error 'vLLM does not yet support DoRA.'")
    expect(await loadFailure('adapter-cut')).toContain(
      'Error while deserializing header: incomplete metadata, file not fully covered',
    )
    expect(await loadFailure('adapter-wide')).toContain(
      'The size of tensor a (128) must match the size of tensor b (256)',
    )
    expect(await loadFailure('adapter-alien')).toContain("received ['model.layers.0.self_attn.zz_proj'")
    expect((await cards()).map((card) => card.id)).not.toContain('faulty')
    expect((await target().http.get('/health')).status).toBe(200)
  })

  test('unloading lets a request under way finish', async () => {
    await load('contract-1', 'adapter-1')
    const long = { model: 'contract-1', max_tokens: 100, ignore_eos: true }
    const expected = await idsOf(target(), long)
    const { reply } = await askUnderWay(target(), long)
    await unload('contract-1')
    const { status, text } = await reply
    expect(status).toBe(200)
    const { choices } = JSON.parse(text) as Completions
    expect(choices.map((choice) => choice.token_ids)).toEqual(expected)
    expect((await ask(target(), { model: 'contract-1' })).status).toBe(404)
  })
}
