import { z } from 'zod'
import { VerifyResponses } from './gym-metrics.ts'
import { VerifyReply, VerifyRequest } from './routes-nemo-gym.ts'
import { OpenRlhfReply, OpenRlhfRequest } from './routes-openrlhf.ts'
import { SlimeReply, SlimeRequest } from './routes-slime.ts'
import { ComponentsReply, ErrorReply, Health, ScoreReply, ScoreRequest } from './wire.ts'

/** Version of the interface, not of the program: it changes when a client would have to. */
const interfaceVersion = '1.0.0'

const schemas = {
  ScoreRequest,
  ScoreReply,
  ComponentsReply,
  OpenRlhfRequest,
  OpenRlhfReply,
  SlimeRequest,
  SlimeReply,
  VerifyRequest,
  VerifyReply,
  VerifyResponses,
  Health,
  ErrorReply,
} as const
type SchemaName = keyof typeof schemas

/** Requests are described as clients write them, replies as they are sent. */
const isRequest = (name: SchemaName): boolean => name.endsWith('Request') || name === 'VerifyResponses'

const definitions = (): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const io = isRequest(name as SchemaName) ? 'input' : 'output'
      const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
      return [name, rest]
    }),
  )

interface Operation {
  readonly method: 'get' | 'post'
  readonly path: string
  readonly summary: string
  readonly request?: SchemaName
  /** A schema of ours, or a JSON Schema of its own; undefined: text that is not JSON. */
  readonly reply?: SchemaName | Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, string>>
}

const unscored = 'Number to answer with where there is no reward; without it that is an error 503.'
const anyObject = { type: 'object' }

const operations: readonly Operation[] = [
  {
    method: 'post',
    path: '/v1/score',
    summary: 'Score completions of one or many prompts',
    request: 'ScoreRequest',
    reply: 'ScoreReply',
  },
  {
    method: 'get',
    path: '/v1/components',
    summary: 'The components, their weights and the largest R',
    reply: 'ComponentsReply',
  },
  {
    method: 'post',
    path: '/v1/openrlhf',
    summary: "OpenRLHF's remote reward",
    request: 'OpenRlhfRequest',
    reply: 'OpenRlhfReply',
    query: { unscored, logs: 'none: leave the values of the components out.' },
  },
  {
    method: 'post',
    path: '/v1/slime',
    summary: "slime's remote_rm",
    request: 'SlimeRequest',
    reply: { anyOf: [{ type: 'number' }, { $ref: '#/components/schemas/SlimeReply' }] },
    query: { unscored, reply: 'object: an object with the components in place of a number.' },
  },
  { method: 'post', path: '/seed_session', summary: 'NeMo-Gym: begin a rollout', reply: anyObject },
  { method: 'post', path: '/close_session', summary: 'NeMo-Gym: end a rollout', reply: anyObject },
  {
    method: 'post',
    path: '/verify',
    summary: 'NeMo-Gym: score one response',
    request: 'VerifyRequest',
    reply: 'VerifyReply',
  },
  {
    method: 'post',
    path: '/aggregate_metrics',
    summary: 'NeMo-Gym: means over answers of /verify',
    request: 'VerifyResponses',
    reply: anyObject,
  },
  { method: 'get', path: '/reverify_mode', summary: 'NeMo-Gym: how to verify again', reply: { const: 'stateless' } },
  { method: 'get', path: '/healthz', summary: 'Is it up? Needs no token', reply: 'Health' },
  { method: 'get', path: '/metrics', summary: 'Counters in the text format of Prometheus' },
  { method: 'get', path: '/openapi.json', summary: 'This document', reply: anyObject },
  { method: 'get', path: '/', summary: 'Name of the service', reply: anyObject },
]

const reference = (name: SchemaName) => ({ $ref: `#/components/schemas/${name}` })

const json = (schema: unknown) => ({ 'application/json': { schema } })

const contentOf = ({ reply }: Operation) => {
  if (reply === undefined) return { 'text/plain': { schema: { type: 'string' } } }
  return json(typeof reply === 'string' ? reference(reply) : reply)
}

const describe = (operation: Operation) => ({
  summary: operation.summary,
  parameters: Object.entries(operation.query ?? {}).map(([name, description]) => ({
    ...{ name, description, in: 'query', required: false, schema: { type: 'string' } },
  })),
  ...(operation.method === 'get'
    ? {}
    : {
        requestBody: {
          required: true,
          content: json(operation.request === undefined ? anyObject : reference(operation.request)),
        },
      }),
  responses: {
    200: { description: 'The answer', content: contentOf(operation) },
    default: { description: 'A refusal', content: json(reference('ErrorReply')) },
  },
})

/** The service's interface as an OpenAPI 3.1 document, its schemas generated from those that check requests. */
export const openApiDocument = () => ({
  openapi: '3.1.0',
  info: {
    title: 'drift-grpo reward service',
    version: interfaceVersion,
    description: 'Nine-component rewards for completions, in its own shape and in those of several trainers.',
  },
  paths: Object.fromEntries(
    operations.map((operation) => [operation.path, { [operation.method]: describe(operation) }]),
  ),
  components: {
    schemas: definitions(),
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' }, basic: { type: 'http', scheme: 'basic' } },
  },
  security: [{}, { bearer: [] }, { basic: [] }],
})
