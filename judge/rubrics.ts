import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseTemplate, type Template } from '../data/nodes/template.ts'
import { packageRoot } from '../data/package-root.ts'
import { nodeIds, type NodeId } from '../data/records/node.ts'

/** Raised when a change outside the text files alters what a judge is shown (fences, what is made harmless). */
const REVISION = 1

const read = (name: string): string =>
  readFileSync(join(packageRoot(), 'judge/rubrics', `${name}.txt`), 'utf8').replaceAll('\r\n', '\n')

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12)

export interface Rubric {
  readonly text: string
  /** Changes with its wording. */
  readonly hash: string
}

/** Everything fixed that a judge is told. */
export interface Rubrics {
  readonly frame: Template
  readonly nodes: Readonly<Record<NodeId, Rubric>>
  /** Identity of the question's frame; part of every verdict's key. */
  readonly frameVersion: string
  /** Identity of frame and rubrics together; part of the judge's name. */
  readonly version: string
}

const load = (): Rubrics => {
  const frame = read('frame')
  const rubric = (node: NodeId): Rubric => {
    const text = read(node).trimEnd()
    return { text, hash: hash(text) }
  }
  const nodes = { n1: rubric('n1'), n2: rubric('n2'), n3: rubric('n3'), n4: rubric('n4'), n5: rubric('n5') }
  const frameVersion = hash(`${REVISION}\n${frame}`)
  const version = hash([frameVersion, ...nodeIds.map((node) => nodes[node].hash)].join('\n')).slice(0, 8)
  return { frame: parseTemplate(frame, 'judge/rubrics/frame.txt'), nodes, frameVersion, version }
}

let loaded: Rubrics | undefined

/** The text files of this folder; read once. */
export const rubrics = (): Rubrics => (loaded ??= load())
