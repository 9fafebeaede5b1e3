import type { HttpClient } from './http-client.ts'

/** A sampler under test: a server on `base`, a model of one token a byte with a context of 1024. */
export interface SamplerTarget {
  readonly http: HttpClient
  /** Served name of the base. */
  readonly model: string
  /** What make_models.py wrote, as the server sees it. */
  readonly models: string
}
