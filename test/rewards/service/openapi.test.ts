import { describe, expect, it } from 'vitest'
import { openApiDocument } from '../../../rewards/service/openapi.ts'
import { appWith } from './support.ts'

const document = openApiDocument()
const paths: Readonly<Record<string, Readonly<Record<string, unknown>>>> = document.paths

const references = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : references(inner),
  )
}

describe('GET /openapi.json', () => {
  it('is what the document says', async () => {
    const response = await appWith().request('/openapi.json')
    expect(await response.json()).toStrictEqual(JSON.parse(JSON.stringify(document)))
  })

  it('describes every route, and no other', () => {
    const served = appWith()
      .routes.filter(({ method, path }) => method !== 'ALL' && !path.startsWith('/ng-rollout/'))
      .map(({ method, path }) => `${method.toLowerCase()} ${path}`)
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((one) => `${one} ${path}`),
    )
    expect(described.toSorted()).toStrictEqual(served.toSorted())
  })

  it('refers only to what it holds, and holds only what it refers to', () => {
    const held = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`)
    const used = new Set(references(document))
    expect([...used].filter((one) => !held.includes(one))).toStrictEqual([])
    expect(held.filter((one) => !used.has(one))).toStrictEqual([])
  })

  it('has its schemas from those that check requests', () => {
    const request = document.components.schemas['ScoreRequest'] as {
      properties: { items: { items: { required: string[]; properties: { prompt: { anyOf: unknown[] } } } } }
    }
    const item = request.properties.items.items
    expect(item.required).toStrictEqual(['id', 'prompt', 'completion'])
    expect(item.properties.prompt.anyOf).toHaveLength(2)
  })
})
