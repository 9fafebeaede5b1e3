/** End-of-turn and padding tokens of the model families that are trained most. */
export const defaultStopTokens = [
  '<|im_end|>',
  '<|endoftext|>',
  '<|end_of_text|>',
  '<|end_of_turn|>',
  '<end_of_turn>',
  '<|eot_id|>',
  '<|end|>',
  '</s>',
] as const

/**
 * Makes a function that cuts stop tokens from the end of a text, and only there: some trainers decode the token that the
 * sampler stopped on, and padding after it, into the text; left there it would cost every completion its strict format.
 */
export const stopTokenCutter =
  (tokens: readonly string[]): ((text: string) => string) =>
  (text) => {
    let end = text.length
    for (;;) {
      const token = tokens.find((one) => one !== '' && text.endsWith(one, end))
      if (token === undefined) return text.slice(0, end)
      end -= token.length
    }
  }
