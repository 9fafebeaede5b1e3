/**
 * config.json of the reference models, the keys that decide their size: a plan can be made before anything is downloaded.
 * The file of the model itself goes before, wherever it is at hand. Their parameter counts are checked by a test.
 */
export const knownModels: Readonly<Record<string, unknown>> = {
  'ibm-granite/granite-3.3-2b-instruct': {
    architectures: ['GraniteForCausalLM'],
    hidden_size: 2048,
    intermediate_size: 8192,
    num_hidden_layers: 40,
    num_attention_heads: 32,
    num_key_value_heads: 8,
    vocab_size: 49_159,
    tie_word_embeddings: true,
  },
  'Qwen/Qwen2.5-1.5B-Instruct': {
    architectures: ['Qwen2ForCausalLM'],
    hidden_size: 1536,
    intermediate_size: 8960,
    num_hidden_layers: 28,
    num_attention_heads: 12,
    num_key_value_heads: 2,
    vocab_size: 151_936,
    tie_word_embeddings: true,
  },
  'Qwen/Qwen3-14B-AWQ': {
    architectures: ['Qwen3ForCausalLM'],
    hidden_size: 5120,
    intermediate_size: 17_408,
    num_hidden_layers: 40,
    num_attention_heads: 40,
    num_key_value_heads: 8,
    head_dim: 128,
    vocab_size: 151_936,
    tie_word_embeddings: false,
    quantization_config: { quant_method: 'awq', bits: 4, group_size: 128 },
  },
}
