import { z } from 'zod'

/** What a model's config.json says about its size. */
export interface ModelDims {
  readonly architecture: string
  readonly hidden: number
  readonly intermediate: number
  readonly layers: number
  readonly heads: number
  readonly kvHeads: number
  readonly headDim: number
  readonly vocab: number
  /** The head shares the embedding's weights. */
  readonly tied: boolean
  /** Numbers in the biases and head norms of one layer. */
  readonly smallPerLayer: number
  /** How the linear layers are stored, the head excepted; null: as the number format says. */
  readonly quantization: { readonly bits: number; readonly groupSize: number } | null
}

const Quantization = z.looseObject({
  quant_method: z.string().optional(),
  bits: z.int().optional(),
  w_bit: z.int().optional(),
  group_size: z.int().optional(),
  load_in_4bit: z.boolean().optional(),
})

const ModelConfig = z.looseObject({
  architectures: z.array(z.string()).min(1),
  hidden_size: z.int().positive(),
  intermediate_size: z.int().positive(),
  num_hidden_layers: z.int().positive(),
  num_attention_heads: z.int().positive(),
  num_key_value_heads: z.int().positive().nullish(),
  head_dim: z.int().positive().nullish(),
  vocab_size: z.int().positive(),
  tie_word_embeddings: z.boolean().nullish(),
  attention_bias: z.boolean().nullish(),
  mlp_bias: z.boolean().nullish(),
  quantization_config: Quantization.nullish(),
})
type ModelConfig = z.infer<typeof ModelConfig>

/** Numbers beside the matrices that a layer of a family has, from its model code in transformers. */
type SmallNumbers = (dims: Omit<ModelDims, 'smallPerLayer'>, config: ModelConfig) => number

const asConfigured: SmallNumbers = ({ heads, kvHeads, headDim, hidden, intermediate }, config) =>
  (config.attention_bias === true ? (heads + 2 * kvHeads) * headDim + hidden : 0) +
  (config.mlp_bias === true ? 2 * intermediate + hidden : 0)

/** Families of one shape: attention with grouped heads, a gated MLP of three matrices, two norms a layer. */
const families: Readonly<Record<string, SmallNumbers>> = {
  LlamaForCausalLM: asConfigured,
  MistralForCausalLM: asConfigured,
  GraniteForCausalLM: asConfigured,
  Qwen2ForCausalLM: ({ heads, kvHeads, headDim }) => (heads + 2 * kvHeads) * headDim,
  Qwen3ForCausalLM: (dims, config) => asConfigured(dims, config) + 2 * dims.headDim,
}

/** AWQ and GPTQ models store groups of 128 unless they say otherwise. */
const usualGroup = 128

const quantizationOf = ({ quantization_config: given }: ModelConfig): ModelDims['quantization'] => {
  const bits = given?.bits ?? given?.w_bit ?? (given?.load_in_4bit === true ? 4 : undefined)
  return bits === undefined ? null : { bits, groupSize: given?.group_size ?? usualGroup }
}

/** Reads a parsed config.json; null for what is no model config, or of a family whose size this file cannot count. */
export const readDims = (value: unknown): ModelDims | null => {
  const { data } = ModelConfig.safeParse(value)
  const family = data?.architectures[0]
  const small = family === undefined ? undefined : families[family]
  if (data === undefined || family === undefined || small === undefined) return null
  const dims = {
    architecture: family,
    hidden: data.hidden_size,
    intermediate: data.intermediate_size,
    layers: data.num_hidden_layers,
    heads: data.num_attention_heads,
    kvHeads: data.num_key_value_heads ?? data.num_attention_heads,
    headDim: data.head_dim ?? data.hidden_size / data.num_attention_heads,
    vocab: data.vocab_size,
    tied: data.tie_word_embeddings ?? false,
    quantization: quantizationOf(data),
  }
  return { ...dims, smallPerLayer: small(dims, data) }
}
