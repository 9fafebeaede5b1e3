import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PipelineError } from '../errors.ts'
import { packageRoot } from '../package-root.ts'
import type { NodeId } from '../records/node.ts'

export interface Template {
  readonly system: string
  readonly user: string
  /** A turn before the user's: a question in short, and a good reply. */
  readonly example?: { readonly question: string; readonly reply: string }
}

export type ExampleCount = 0 | 1

const placeholder = /\{\{(\w+)\}\}/g
const parts = /^\[system\]\n([\s\S]+)\n\[user\]\n([\s\S]+?)\n*$/

/** Where a template starts to describe the reply; its blanks follow on the next lines. */
const form = '\nReply in exactly this form, with at most 40 words of reasoning:\n'

/**
 * Shows a worked example twice: as a turn of its own, and in place of the form at the end. A small model copies what it saw
 * last: it overlooks an example in the system message, and of a form with blanks it copies the blanks. The example's first
 * line asks, the rest replies.
 */
const withExample = ({ system, user }: Template, example: string, file: string): Template => {
  const end = example.indexOf('\n')
  const reply = example.slice(end + 1)
  const [evidence, blanks] = user.split(form)
  if (blanks === undefined)
    throw new PipelineError('pool', `${file}: there is no line "${form.trim()}"`, {
      remedy: 'Restore the file from the package.',
    })
  return { system, user: `${evidence}${form}${reply}`, example: { question: example.slice(0, end), reply } }
}

/** Splits a template file into its two messages. */
export const parseTemplate = (text: string, file: string): Template => {
  const [, system, user] = parts.exec(text) ?? []
  if (system === undefined || user === undefined)
    throw new PipelineError('pool', `${file}: a template is "[system]", text, "[user]", text`, {
      remedy: 'Restore the file from the package.',
    })
  return { system, user }
}

/**
 * Fills `{{name}}` in one pass: a value that itself contains `{{x}}` stays as it is. A placeholder without a value
 * and a value without a placeholder are errors.
 */
export const fillTemplate = (text: string, values: Readonly<Record<string, string>>): string => {
  const unused = new Set(Object.keys(values))
  const filled = text.replace(placeholder, (_, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined) throw new PipelineError('pool', `the template asks for {{${name}}}, which has no value`)
    unused.delete(name)
    return value
  })
  if (unused.size > 0) throw new PipelineError('pool', `the template has no place for ${[...unused].join(', ')}`)
  return filled
}

const asset = (folder: string, node: NodeId): string =>
  readFileSync(join(packageRoot(), 'data/nodes', folder, `${node}.txt`), 'utf8').replaceAll('\r\n', '\n')

const hash = (texts: readonly string[]): string =>
  createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 12)

export interface TemplateSet {
  readonly templates: Readonly<Record<NodeId, Template>>
  /** Changes with any wording that prompts can contain. */
  readonly version: string
}

const loadTemplates = (examples: ExampleCount): TemplateSet => {
  const texts: string[] = []
  const load = (node: NodeId): Template => {
    const text = asset('templates', node)
    const file = `data/nodes/templates/${node}.txt`
    const template = parseTemplate(text, file)
    texts.push(text)
    if (examples === 0) return template
    const example = asset('examples', node).trimEnd()
    const shown = withExample(template, example, file)
    texts.push(JSON.stringify(shown))
    return shown
  }
  const templates = { n1: load('n1'), n2: load('n2'), n3: load('n3'), n4: load('n4'), n5: load('n5') }
  return { templates, version: hash(texts) }
}

const loaded = new Map<ExampleCount, TemplateSet>()

/** The templates of all nodes, with none or one worked example each; read once. */
export const templateSet = (examples: ExampleCount): TemplateSet => {
  const known = loaded.get(examples) ?? loadTemplates(examples)
  loaded.set(examples, known)
  return known
}
