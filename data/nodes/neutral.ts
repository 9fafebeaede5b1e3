// What hides or reorders text: format characters (zero width, bidi, tags), fillers, variation selectors.
const invisible =
  /\p{Cf}|\u034f|\u115f|\u1160|\u17b4|\u17b5|[\u180b-\u180d]|\u3164|\uffa0|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]/gu
const lineBreaks = /\r\n?|[\u2028\u2029\u0085\v\f]/g
// Control, private, unassigned and half surrogate characters; what is invisible is gone by then.
const unprintable = /[^\P{C}\n\t]/gu
// Full-width brackets too: some tokenizers fold them back to ASCII.
const opening = /[<\uff1c\ufe64]/g
const closing = /[\uff1e\ufe65]|>(?=>)|(?<=>)>/g
const controlWord = /[[\uff3b](\/?[\p{Lu}_]{2,})[\]\uff3d]/gu

// Printable ASCII without `<` and `[`: most text, for which nothing below can match.
const plain = /^[\n\t -;=-Z\\-~]*$/

const neutraliseAny = (text: string): string =>
  text
    .replace(lineBreaks, '\n')
    .replace(invisible, '')
    .replace(unprintable, '\ufffd')
    .replace(opening, '‹')
    .replace(closing, '›')
    .replace(controlWord, '⟦$1⟧')

/**
 * Makes untrusted text harmless inside a prompt, visibly. No `<` survives, so no envelope tag, verdict tag, chat token
 * or opening fence can be formed; no run of `>` survives, so no closing fence can be; control words in square brackets
 * (`[INST]`) lose their brackets; invisible and control characters go. Idempotent. Line feeds and tabs stay.
 */
export const neutralise = (text: string): string =>
  plain.test(text) && !text.includes('>>') ? text : neutraliseAny(text)

/** The same on one line: line feeds and tabs become visible escapes. */
export const neutraliseLine = (text: string): string =>
  neutralise(text).trim().replaceAll('\n', '\\n').replaceAll('\t', '\\t')
