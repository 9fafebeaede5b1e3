import { describe, expect, it } from 'vitest'
import { adapterNumbers, cacheWidth, parameters, projections, weightBytes } from '../../../trainer/memory/footprint.ts'
import { parseGpus } from '../../../trainer/memory/gpu.ts'
import { knownModels } from '../../../trainer/memory/known-models.ts'
import { readDims, type ModelDims } from '../../../trainer/memory/model-dims.ts'

const dims = (name: string): ModelDims => {
  const found = readDims(knownModels[name])
  if (found === null) throw new Error(`${name} is not known`)
  return found
}
const granite = dims('ibm-granite/granite-3.3-2b-instruct')
const qwen = dims('Qwen/Qwen2.5-1.5B-Instruct')
const judge = dims('Qwen/Qwen3-14B-AWQ')

describe('the size of the reference models', () => {
  // The counts that their publishers give: 2.5 B, 1.54 B and 14.8 B, here to the last number.
  it('is the published one', () => {
    expect(parameters(granite)).toBe(2_533_539_840)
    expect(parameters(qwen)).toBe(1_543_714_304)
    expect(parameters(judge)).toBe(14_768_307_200)
  })

  it('in four bits leaves embedding and head as they are', () => {
    const bytes = weightBytes(judge, 2)
    const linear = judge.layers * projections(judge).reduce((sum, { inputs, outputs }) => sum + inputs * outputs, 0)
    const rest = parameters(judge) - linear
    expect(bytes).toBeCloseTo((linear * (4 + 20 / 128)) / 8 + 2 * rest, 0)
    expect(bytes / 1e9).toBeGreaterThan(9.9)
    expect(bytes / 1e9).toBeLessThan(10.1)
  })

  it('counts a key and a value of each key-value head and layer as cache', () => {
    expect(cacheWidth(granite)).toBe(2 * 40 * 8 * 64)
    expect(cacheWidth(judge)).toBe(2 * 40 * 8 * 128)
  })

  it('counts two matrices of the rank for each targeted projection', () => {
    const all = adapterNumbers(granite, { rank: 128, targetModules: 'all-linear' })
    expect(all).toBe(225_443_840)
    expect(adapterNumbers(granite, { rank: 1, targetModules: ['q_proj'] })).toBe(40 * (2048 + 2048))
  })
})

describe('a model’s config', () => {
  const config = knownModels['Qwen/Qwen2.5-1.5B-Instruct'] as Record<string, unknown>

  it('of another family, or none at all, has a size that is not known', () => {
    expect(readDims({ ...config, architectures: ['MambaForCausalLM'] })).toBeNull()
    expect(readDims({ architectures: ['Qwen2ForCausalLM'] })).toBeNull()
    expect(readDims(null)).toBeNull()
  })

  it('may leave out what follows from the rest', () => {
    const { num_key_value_heads: _, ...rest } = config
    expect(readDims(rest)).toMatchObject({ kvHeads: 12, headDim: 128 })
  })

  it('may be quantized in the words of several tools', () => {
    expect(readDims({ ...config, quantization_config: { load_in_4bit: true } })?.quantization?.bits).toBe(4)
    expect(readDims({ ...config, quantization_config: { w_bit: 8, group_size: 64 } })?.quantization).toEqual({
      bits: 8,
      groupSize: 64,
    })
    expect(readDims({ ...config, quantization_config: { quant_method: 'fp8' } })?.quantization).toBeNull()
  })
})

describe('the GPUs of a machine', () => {
  it('are read from the driver’s table; a line without sizes is left out', () => {
    const text = 'NVIDIA A100-SXM4-80GB, 81920, 81000\nstrange, [N/A], [N/A]\n\n'
    expect(parseGpus(text)).toEqual([
      { name: 'NVIDIA A100-SXM4-80GB', totalBytes: 81_920 * 2 ** 20, freeBytes: 81_000 * 2 ** 20 },
    ])
  })
})
