import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { packageRoot } from '../../data/package-root.ts'
import type { ModelDims } from './model-dims.ts'

/** A linear layer of the decoder, as an adapter sees it. */
export interface LinearLayer {
  readonly name: string
  readonly inputs: number
  readonly outputs: number
}

/** The seven projections of one layer. */
export const projections = ({ hidden, intermediate, heads, kvHeads, headDim }: ModelDims): readonly LinearLayer[] => [
  { name: 'self_attn.q_proj', inputs: hidden, outputs: heads * headDim },
  { name: 'self_attn.k_proj', inputs: hidden, outputs: kvHeads * headDim },
  { name: 'self_attn.v_proj', inputs: hidden, outputs: kvHeads * headDim },
  { name: 'self_attn.o_proj', inputs: heads * headDim, outputs: hidden },
  { name: 'mlp.gate_proj', inputs: hidden, outputs: intermediate },
  { name: 'mlp.up_proj', inputs: hidden, outputs: intermediate },
  { name: 'mlp.down_proj', inputs: intermediate, outputs: hidden },
]

const linearPerLayer = (dims: ModelDims): number =>
  projections(dims).reduce((sum, { inputs, outputs }) => sum + inputs * outputs, 0)

const embeddings = ({ vocab, hidden, tied }: ModelDims): number => vocab * hidden * (tied ? 1 : 2)

/** Numbers that are stored at full width whatever the quantization: embedding, head, norms, biases. */
const unquantized = (dims: ModelDims): number =>
  embeddings(dims) + dims.layers * (2 * dims.hidden + dims.smallPerLayer) + dims.hidden

/** Parameters of a model, tied weights counted once. */
export const parameters = (dims: ModelDims): number => dims.layers * linearPerLayer(dims) + unquantized(dims)

/** A group of quantized weights has a scale of 16 bits and a zero point of the weights' own width (AWQ, GPTQ). */
const bitsPerWeight = ({ bits, groupSize }: NonNullable<ModelDims['quantization']>): number =>
  bits + (16 + bits) / groupSize

/** Bytes of the weights as an engine holds them. */
export const weightBytes = (dims: ModelDims, bytesPerNumber: number): number => {
  const linear = dims.layers * linearPerLayer(dims)
  const width = dims.quantization === null ? bytesPerNumber : bitsPerWeight(dims.quantization) / 8
  return linear * width + unquantized(dims) * bytesPerNumber
}

/** Numbers in the key-value cache of one token: a key and a value of each layer and key-value head. */
export const cacheWidth = ({ layers, kvHeads, headDim }: ModelDims): number => 2 * layers * kvHeads * headDim

/** Which projections an adapter is put on. */
export const targeted = (dims: ModelDims, targetModules: 'all-linear' | readonly string[]): readonly LinearLayer[] =>
  projections(dims).filter(
    ({ name }) => targetModules === 'all-linear' || targetModules.some((target) => name.endsWith(`.${target}`)),
  )

/** Numbers in an adapter: two matrices of the rank for every targeted layer. */
export const adapterNumbers = (
  dims: ModelDims,
  { rank, targetModules }: { readonly rank: number; readonly targetModules: 'all-linear' | readonly string[] },
): number =>
  dims.layers * targeted(dims, targetModules).reduce((sum, { inputs, outputs }) => sum + rank * (inputs + outputs), 0)

const Coefficients = z.object({
  perHidden: z.number(),
  perIntermediate: z.number(),
  perHeadWidthSeen: z.number(),
  perRankAndModule: z.number(),
  perHead: z.number(),
  fixed: z.number(),
})
let coefficients: z.infer<typeof Coefficients> | undefined
const measured = (): z.infer<typeof Coefficients> =>
  (coefficients ??= Coefficients.parse(
    JSON.parse(readFileSync(join(packageRoot(), 'trainer/memory/activation-bytes.json'), 'utf8')),
  ))

export interface RowShape {
  /** Places of one micro-batch. */
  readonly places: number
  readonly rank: number
  /** Projections with an adapter in one layer. */
  readonly modules: number
  /** Keys that the places look at, over the places: prompts are copied for each of their completions. */
  readonly seen: number
}

/** Bytes that a micro-batch keeps until its backward pass; the worker makes no gradient checkpoints of its layers. */
export const activationBytes = (dims: ModelDims, { places, rank, modules, seen }: RowShape): number => {
  const c = measured()
  const perLayer =
    c.perHidden * dims.hidden +
    c.perIntermediate * dims.intermediate +
    c.perHeadWidthSeen * dims.heads * dims.headDim * seen +
    c.perRankAndModule * rank * modules +
    c.perHead * dims.heads +
    c.fixed
  return places * dims.layers * perLayer
}
