import type { CallKind, EndpointDoc } from '../records/trajectory.ts'
import type { Draw } from './values/draw.ts'
import { isPerson, weekdays } from './values/lists.ts'
import type { Journal } from './journal.ts'
import type { Rng } from './random.ts'

export const appNames = ['mail', 'calendar', 'payments', 'splits', 'music', 'notes', 'files', 'shop', 'chat'] as const
export type AppName = (typeof appNames)[number]

/** A call that was refused. It changes nothing. */
export interface Failure {
  readonly code: 400 | 403 | 404 | 409 | 500
  readonly reason: string
}

export const notFound: Failure = { code: 404, reason: 'not found' }
export const forbidden = (reason: string): Failure => ({ code: 403, reason })
export const conflict = (reason: string): Failure => ({ code: 409, reason })

export type ArgValue = string | number | boolean
export type Args = Readonly<Record<string, ArgValue>>

const days: ReadonlySet<string> = new Set(weekdays)
const isText = (value: ArgValue): boolean => typeof value === 'string' && value.trim() !== ''
const isNumber = (value: ArgValue, low: number, high: number): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high

/** What a value must look like; a person must also exist. */
const paramKinds = {
  id: isText,
  text: isText,
  person: isText,
  day: (value: ArgValue) => typeof value === 'string' && days.has(value),
  amount: (value: ArgValue) => isNumber(value, 1, 9999),
  page: (value: ArgValue) => isNumber(value, 1, 99),
  stars: (value: ArgValue) => isNumber(value, 1, 5),
} as const
export type ParamKind = keyof typeof paramKinds

type ValueOf<K extends ParamKind> = K extends 'amount' | 'page' | 'stars' ? number : string
export type ArgsOf<P extends Readonly<Record<string, ParamKind>>> = { readonly [K in keyof P]: ValueOf<P[K]> }

/** The documented call that takes a write back, with values that the call and its observation show. */
export interface Undo {
  readonly by: string
  readonly args: (args: Args, observation: string) => Args
}

/** One callable operation of an app whose state is S. */
export interface Endpoint<S> {
  readonly kind: CallKind
  readonly does: string
  readonly params: Readonly<Record<string, ParamKind>>
  readonly run: (state: S, args: Args) => string | Failure
  readonly undo: Undo | null
}

interface EndpointInput<S, P extends Readonly<Record<string, ParamKind>>> {
  /** What it does, in a few words. */
  readonly does: string
  readonly params: P
  /** Returns the observation, or why it failed. Arguments were checked before. */
  readonly run: (state: S, args: ArgsOf<P>) => string | Failure
  readonly undo?: Undo
}

/** Typed makers of one app's endpoints. */
export const endpointsOf = <S>() => {
  const make =
    (kind: CallKind) =>
    <const P extends Readonly<Record<string, ParamKind>>>(input: EndpointInput<S, P>): Endpoint<S> => ({
      kind,
      does: input.does,
      params: input.params,
      // checkArgs has run: the record has exactly these keys with values of these kinds
      run: input.run as (state: S, args: Args) => string | Failure,
      undo: input.undo ?? null,
    })
  return { read: make('read'), write: make('write') }
}

/** Undone by an endpoint that takes the same arguments. */
export const undoneBySame = (by: string): Undo => ({ by, args: (args) => args })

/** The first id in a text: a letter and digits, such as m48. */
export const idIn = (text: string): string => {
  const id = /\b[a-z]\d+\b/.exec(text)?.[0]
  if (id === undefined) throw new Error(`no id in: ${text}`)
  return id
}

/** Undone by an endpoint that takes the id which the observation shows. */
export const undoneByNewId = (by: string): Undo => ({ by, args: (_args, observation) => ({ id: idIn(observation) }) })

/** What an app gets to make its initial state. */
export interface Opening {
  readonly journal: Journal
  readonly rng: Rng
  readonly draw: Draw
}

/** One simulated app: how its state is seeded, what can be called, what its documentation says. */
export interface App<S> {
  readonly name: AppName
  readonly open: (opening: Opening) => S
  readonly endpoints: ReadonlyMap<string, Endpoint<S>>
  readonly docs: readonly EndpointDoc[]
}

/** Stands between what an endpoint does and the call that undoes it, in every summary. */
export const undoneByPhrase = '; undone by '

const signature = <S>(app: string, name: string, endpoint: Endpoint<S> | undefined): string =>
  `${app}.${name}(${Object.keys(endpoint?.params ?? {}).join(', ')})`

const describe = <S>(app: AppName, name: string, endpoint: Endpoint<S>, all: Readonly<Record<string, Endpoint<S>>>) => {
  const { undo } = endpoint
  const undone = undo === null ? '' : `${undoneByPhrase}${signature(app, undo.by, all[undo.by])}`
  return {
    app,
    endpoint: name,
    summary: `${signature(app, name, endpoint)}: ${endpoint.does}${undone}`,
    kind: endpoint.kind,
    params: Object.keys(endpoint.params),
    undoneBy: undo === null ? null : `${app}.${undo.by}`,
  } satisfies EndpointDoc
}

/** Puts an app together and derives its documentation from its endpoints. */
export const defineApp = <S>(
  name: AppName,
  open: (opening: Opening) => S,
  endpoints: Readonly<Record<string, Endpoint<S>>>,
): App<S> => ({
  name,
  open,
  endpoints: new Map(Object.entries(endpoints)),
  docs: Object.entries(endpoints).map(([key, endpoint]) => describe(name, key, endpoint, endpoints)),
})

/** Checks names, types and people; null when the arguments are fine. */
export const checkArgs = (params: Readonly<Record<string, ParamKind>>, args: Args): Failure | null => {
  for (const name of Object.keys(args)) {
    if (params[name] === undefined) return { code: 400, reason: `unknown ${name}` }
  }
  for (const [name, kind] of Object.entries(params)) {
    const value = args[name]
    if (value === undefined) return { code: 400, reason: `${name} missing` }
    if (!paramKinds[kind](value)) return { code: 400, reason: `bad ${name}` }
    if (kind === 'person' && !isPerson(String(value))) return { code: 404, reason: 'no such person' }
  }
  return null
}

const perPage = 3

/** `2 results: m48 from ana, m51 from gus`, cut after three. */
export const results = (items: readonly string[]): string => {
  if (items.length === 0) return 'no results'
  const more = items.length > perPage ? `, ${items.length - perPage} more` : ''
  return `${items.length} ${items.length === 1 ? 'result' : 'results'}: ${items.slice(0, perPage).join(', ')}${more}`
}

/** One page of a listing: `page 1 of 2: …`. */
export const pageOf = (items: readonly string[], page: number): string | Failure => {
  const pages = Math.max(1, Math.ceil(items.length / perPage))
  if (page > pages) return { code: 404, reason: 'no such page' }
  const shown = items.slice((page - 1) * perPage, page * perPage)
  return `page ${page} of ${pages}: ${shown.length === 0 ? 'empty' : shown.join(', ')}`
}
