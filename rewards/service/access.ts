import { createHash, timingSafeEqual } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { ServiceError } from './errors.ts'

/** Who may talk to the service. */
export interface Access {
  /** Null: nobody has to prove anything. */
  readonly token: string | null
  /** Answer only requests that name this machine's loopback: keeps web pages out that resolve a name to it. */
  readonly loopbackOnly: boolean
}

/** True for the names and addresses by which a machine reaches only itself. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)

const hostOf = (header: string): string => header.toLowerCase().replace(/:\d+$/, '')

/** The secret of an Authorization header: a bearer token, or the password of clients that only know `user:password@host`. */
const secretOf = (header: string | undefined): string | undefined => {
  const [scheme = '', value = ''] = header?.split(' ', 2) ?? []
  if (scheme.toLowerCase() === 'bearer') return value
  if (scheme.toLowerCase() !== 'basic') return undefined
  const pair = Buffer.from(value, 'base64').toString('utf8')
  return pair.slice(pair.indexOf(':') + 1)
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Refuses requests from elsewhere, and requests without the token. `open` paths need no token. */
export const guard = (access: Access, open: readonly string[]): MiddlewareHandler => {
  const expected = access.token === null ? null : digest(access.token)
  return async (c, next) => {
    // A request that never was on a wire, in the process that mounts the app, has only its address.
    const host = hostOf(c.req.header('host') ?? new URL(c.req.url).host)
    if (access.loopbackOnly && !isLoopback(host)) {
      throw new ServiceError('forbidden_host', `this service answers on loopback only, not as ${host || 'nobody'}`, {
        remedy: 'Ask for 127.0.0.1 or localhost; or start it with --host and --token.',
      })
    }
    if (expected !== null && !open.includes(c.req.path)) {
      const secret = secretOf(c.req.header('authorization'))
      if (secret === undefined || !timingSafeEqual(digest(secret), expected)) {
        throw new ServiceError('unauthorized', 'the token is missing or wrong', {
          remedy: 'Send Authorization: Bearer TOKEN, or use http://any:TOKEN@host:port.',
        })
      }
    }
    return next()
  }
}
