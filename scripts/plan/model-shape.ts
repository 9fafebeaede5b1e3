import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { PipelineError } from '../../data/errors.ts'
import { cacheWidth, parameters, projections } from '../../trainer/memory/footprint.ts'
import { readModelConfig } from '../../trainer/memory/find-dims.ts'
import type { ModelDims } from '../../trainer/memory/model-dims.ts'

/** Size of a model on disk, from the headers of its weight files: nothing is loaded. */
export interface ModelShape {
  readonly parameters: number
  /** Linear layers that an adapter can be put on, the head excepted. */
  readonly linear: readonly { readonly name: string; readonly inputs: number; readonly outputs: number }[]
  /** Numbers in the key-value cache of one token. */
  readonly cacheWidth: number
}

const Tensors = z.record(z.string(), z.looseObject({ shape: z.array(z.int()).optional() }))
const Settings = z.looseObject({
  num_hidden_layers: z.int(),
  hidden_size: z.int(),
  num_attention_heads: z.int(),
  num_key_value_heads: z.int().optional(),
  head_dim: z.int().nullish(),
})

/** A header is JSON after eight bytes that give its length. Real ones take well under this. */
const longestHeader = 100_000_000

const readHeader = async (file: string): Promise<Map<string, readonly number[]>> => {
  const handle = await open(file, 'r')
  try {
    const size = Buffer.alloc(8)
    await handle.read(size, 0, 8, 0)
    const length = Number(size.readBigUInt64LE())
    if (length > longestHeader) throw new RangeError('no header is that long')
    const header = Buffer.alloc(length)
    await handle.read(header, 0, length, 8)
    const tensors = Tensors.parse(JSON.parse(header.toString('utf8')))
    return new Map(Object.entries(tensors).flatMap(([name, { shape }]) => (shape === undefined ? [] : [[name, shape]])))
  } catch (error) {
    throw new PipelineError('config', `${file} is not a safetensors file, or a part of one`, {
      remedy: 'Download the model again (with Git LFS: git lfs pull), or correct model.path.',
      cause: error,
    })
  } finally {
    await handle.close()
  }
}

const isHeadOrEmbedding = (name: string): boolean => /embed|lm_head|wte|wpe/.test(name)

/**
 * Reads the shape of a Hugging Face model directory.
 * @returns null when the directory has no safetensors weights or no settings: then sizes are not known beforehand
 */
export const readModelShape = async (directory: string): Promise<ModelShape | null> => {
  const settings = Settings.safeParse(await readModelConfig(directory))
  if (!settings.success) return null
  const files = (await readdir(directory)).filter((name) => name.endsWith('.safetensors'))
  if (files.length === 0) return null
  const headers = await Promise.all(files.map((name) => readHeader(join(directory, name))))
  const tensors = headers.flatMap((header) => [...header])
  const { num_hidden_layers: layers, hidden_size: width, num_attention_heads: heads, ...rest } = settings.data
  const headDim = rest.head_dim ?? width / heads
  return {
    parameters: tensors.reduce((sum, [, shape]) => sum + shape.reduce((product, size) => product * size, 1), 0),
    linear: tensors.flatMap(([name, [outputs, inputs, ...more]]) =>
      outputs === undefined || inputs === undefined || more.length > 0 || isHeadOrEmbedding(name)
        ? []
        : [{ name: name.replace(/\.weight$/, ''), inputs, outputs }],
    ),
    cacheWidth: 2 * layers * (rest.num_key_value_heads ?? heads) * headDim,
  }
}

/** The shape that follows from a model's config, where its weights are not at hand. */
export const shapeOf = (dims: ModelDims): ModelShape => ({
  parameters: parameters(dims),
  linear: Array.from({ length: dims.layers }, (_, layer) =>
    projections(dims).map(({ name, ...sizes }) => ({ name: `model.layers.${layer}.${name}`, ...sizes })),
  ).flat(),
  cacheWidth: cacheWidth(dims),
})
