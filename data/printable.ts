// C0 but for line feeds and tabs, delete, C1, and what reorders text. A carriage return hides what stands before it.
// oxlint-disable-next-line no-control-regex
const active = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/**
 * Text from outside (a model's, a config's, a file's name) as a terminal may see it: what would recolour, retitle, erase
 * or reorder the screen is shown as JSON writes it. JSON stays JSON with the same value; other text stays as it is.
 */
export const printable = (text: string): string => text.replace(active, escaped)
