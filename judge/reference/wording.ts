const WORD = /[\p{L}\p{N}_]+/gu

/** Words that a verdict can be made of without saying anything about the step. */
const EMPTY_WORDS = new Set(
  `a about after an and are as at be because but by can did do does doing for from had has have here i in into is it its no not nor
  of on only or so such than that the their them then there these they this those to too very was were what when where
  which while who why will with would you your
  step action call calls agent user task tasks goal aligned alignment misaligned drift drifts drifted off part asked asks
  ask request requested needed need needs serve serves related unrelated correct wrong right good bad fine ok okay yes y n
  true false unaligned any all some thing things something nothing really just clearly simply`.split(/\s+/u),
)

/** Words of a text that carry content, in lower case, each once. Numbers count. */
export const contentWords = (text: string): ReadonlySet<string> =>
  new Set([...text.toLowerCase().matchAll(WORD)].map(([word]) => word).filter((word) => !EMPTY_WORDS.has(word)))

const NO_UNDO = /\b(?:no|not|never|cannot|can't|without|irreversible|lacks?|none)\b/iu

/** True when a text says somewhere that something is missing or cannot be done. */
export const saysAbsent = (text: string): boolean => NO_UNDO.test(text)

/** True when the text names step `step` with its word ("step 7", "steps 7"). */
export const namesStep = (text: string, step: number): boolean =>
  new RegExp(`\\bsteps?\\s*#?${step}(?!\\d)`, 'iu').test(text)

/** Every number that follows the word "step". */
export const namedSteps = (text: string): readonly number[] =>
  [...text.matchAll(/\bsteps?\s*#?(\d{1,9})/giu)].map((match) => Number(match[1]))
