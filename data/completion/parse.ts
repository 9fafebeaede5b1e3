import { type Envelope, parseEnvelope } from './envelope.ts'
import { type JsonResult, parseJsonObject } from './strict-json.ts'

/** A completion, read once: rewards, judges, accuracy and run-time consumers all see this reading. */
export interface ParsedCompletion {
  readonly text: string
  readonly envelope: Envelope
  /** The answer's object, or why there is none. */
  readonly answer: JsonResult
}

/** Parses the envelope and the JSON object in its answer. Linear time; never throws. */
export const parseCompletion = (text: string): ParsedCompletion => {
  const envelope = parseEnvelope(text)
  const answer: JsonResult =
    envelope.body === null ? { ok: false, reason: 'no envelope' } : parseJsonObject(envelope.body.answer)
  return { text, envelope, answer }
}
