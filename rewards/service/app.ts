import { Hono, type Context } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { routePath } from 'hono/route'
import { PipelineError } from '../../data/errors.ts'
import { guard } from './access.ts'
import { errorBody, refusals, ServiceError } from './errors.ts'
import { openApiDocument } from './openapi.ts'
import { gymRoutes } from './routes-nemo-gym.ts'
import { openRlhfRoutes } from './routes-openrlhf.ts'
import { scoreRoutes } from './routes-score.ts'
import { slimeRoutes } from './routes-slime.ts'
import { createService, type ServiceOptions } from './service.ts'

const loopback = { token: null, loopbackOnly: true } as const
const retryAfterSeconds = '5'
const methods = new Set(['GET', 'POST'])

/** An expected failure says itself what is wrong; of anything else a client learns only that it happened. */
const asServiceError = (error: Error): ServiceError => {
  if (error instanceof ServiceError) return error
  if (error instanceof PipelineError) {
    const remedy = error.remedy === undefined ? {} : { remedy: error.remedy }
    return new ServiceError('internal', error.message, { ...remedy, cause: error.cause })
  }
  return new ServiceError('internal', 'the service failed on this request', {
    remedy: 'This is a fault of the program; its log says more.',
    cause: error,
  })
}

/** A body that is not read costs its connection. Short ones are read, so that a refused client keeps its own. */
const mostDrained = 2 ** 20

const drain = async ({ req }: Context): Promise<void> => {
  const length = Number(req.header('content-length') ?? 0)
  if (length === 0 || length > mostDrained || req.raw.bodyUsed) return
  // A body that ends early ends the connection anyway.
  await req.arrayBuffer().catch(() => undefined)
}

/** Nobody answers: the path is unknown, or known for another method. */
const missing = (app: Hono, { req: { method, path } }: Context): ServiceError =>
  app.routes.some((route) => route.path === path && route.method !== method && methods.has(route.method))
    ? new ServiceError('method_not_allowed', `${path} does not take ${method}`)
    : new ServiceError('not_found', `there is no ${path.slice(0, 200)}`, { remedy: 'See /openapi.json.' })

/**
 * The reward service as one function from request to response (`app.fetch`): mount it in a process that trains, or give
 * it to `serveRewards`. It keeps nothing between requests but counters, so equal requests get equal answers as long as
 * the judge gives them.
 */
export const createRewardApp = (options: ServiceOptions): Hono => {
  const service = createService(options)
  const { metrics } = service
  const maxSize = options.maxBodyBytes ?? 32 * 2 ** 20
  const app = new Hono()

  app.use(async (c, next) => {
    const started = performance.now()
    metrics.requestStarted()
    await next()
    // The pattern, never the path: whoever asks for random paths must not grow the series.
    const route = c.res.status === refusals.not_found ? 'none' : routePath(c, -1)
    metrics.requestEnded(route, c.res.status, (performance.now() - started) / 1000)
  })
  app.use(guard(options.access ?? loopback, ['/healthz']))
  app.use(
    bodyLimit({
      maxSize,
      onError: () => {
        throw new ServiceError('too_large', `the body is larger than ${maxSize} bytes`, {
          remedy: 'Send fewer completions at once, or raise the limit.',
        })
      },
    }),
  )

  app.get('/', (c) => c.json({ service: 'drift-grpo rewards', description: '/openapi.json' }))
  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  app.get('/metrics', (c) => c.text(metrics.render(), 200, { 'content-type': 'text/plain; version=0.0.4' }))
  const document = openApiDocument()
  app.get('/openapi.json', (c) => c.json(document))
  app.route('/', scoreRoutes(service))
  app.route('/', openRlhfRoutes(service))
  app.route('/', slimeRoutes(service))
  app.route('/', gymRoutes(service))
  app.route('/ng-rollout/:rollout', gymRoutes(service))

  const refuse = async (c: Context, problem: ServiceError): Promise<Response> => {
    await drain(c)
    const status = refusals[problem.code]
    options.onProblem?.(`${status} ${c.req.method} ${c.req.path.slice(0, 200)}: ${problem.message}`, problem.cause)
    if (problem.retryable) c.header('retry-after', retryAfterSeconds)
    return c.json(errorBody(problem), status)
  }
  app.notFound((c) => refuse(c, missing(app, c)))
  app.onError((error, c) => refuse(c, asServiceError(error)))
  return app
}
