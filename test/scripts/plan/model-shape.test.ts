import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { readModelShape } from '../../../scripts/plan/model-shape.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

let folder = ''
beforeEach(() => {
  folder = temporaryDirectory()
})

const settings = { num_hidden_layers: 2, hidden_size: 8, num_attention_heads: 4, num_key_value_heads: 2 }
const writeSettings = (value: object): void => writeFileSync(join(folder, 'config.json'), JSON.stringify(value))
const writeWeights = (name: string, shapes: Record<string, number[]>): void => {
  const tensors = Object.entries(shapes).map(([tensor, shape]) => [
    tensor,
    { dtype: 'F32', shape, data_offsets: [0, 0] },
  ])
  const header = Buffer.from(JSON.stringify({ __metadata__: { format: 'pt' }, ...Object.fromEntries(tensors) }))
  const size = Buffer.alloc(8)
  size.writeBigUInt64LE(BigInt(header.length))
  writeFileSync(join(folder, name), Buffer.concat([size, header]))
}

describe('the shape of a model', () => {
  it('is read from the headers of all weight files', async () => {
    writeSettings(settings)
    writeWeights('model-1.safetensors', { 'model.embed_tokens.weight': [100, 8], 'model.norm.weight': [8] })
    writeWeights('model-2.safetensors', { 'layers.0.q_proj.weight': [16, 8], 'lm_head.weight': [100, 8] })
    expect(await readModelShape(folder)).toStrictEqual({
      parameters: 800 + 8 + 128 + 800,
      linear: [{ name: 'layers.0.q_proj', inputs: 8, outputs: 16 }],
      cacheWidth: 2 * 2 * 2 * 2,
    })
  })

  it('is unknown without settings or weights', async () => {
    expect(await readModelShape(folder)).toBeNull()
    writeSettings(settings)
    expect(await readModelShape(folder)).toBeNull()
    writeWeights('model.safetensors', {})
    writeSettings({ model_type: 'other' })
    expect(await readModelShape(folder)).toBeNull()
  })

  it.each([
    ['other bytes', Buffer.alloc(16, 0xff)],
    ['nothing', Buffer.alloc(0)],
    ['what Git LFS leaves of one', Buffer.from('version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n')],
    ['a header that breaks off', Buffer.concat([Buffer.from([200, 0, 0, 0, 0, 0, 0, 0]), Buffer.from('{"a": ')])],
  ])('refuses a weight file that is %s, and says what to do', async (_, bytes) => {
    writeSettings(settings)
    writeFileSync(join(folder, 'model.safetensors'), bytes)
    await expect(readModelShape(folder)).rejects.toMatchObject({
      message: expect.stringContaining('is not a safetensors file') as string,
      remedy: expect.stringContaining('git lfs pull') as string,
    })
  })

  it('refuses settings that are no JSON', async () => {
    writeFileSync(join(folder, 'config.json'), '{"model_type": ')
    await expect(readModelShape(folder)).rejects.toMatchObject({ boundary: 'config' })
  })
})
