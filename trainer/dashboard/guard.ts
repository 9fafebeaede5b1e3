import { createHash, timingSafeEqual } from 'node:crypto'
import type { Context, MiddlewareHandler, Next } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { isLoopback } from '../../rewards/service/access.ts'

/** Who may look. */
export interface DashboardAccess {
  /** Null: loopback only, and nobody has to prove anything. */
  readonly token: string | null
  readonly loopbackOnly: boolean
}

/** Browsers send a cookie to every port of a host: two dashboards must not overwrite each other's. */
const cookieName = (host: string): string => `drift_grpo_dashboard_${/:(\d+)$/.exec(host)?.[1] ?? 80}`

/** Nothing from elsewhere, nothing inline, no frame, no form, and no text ever becomes markup. */
const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const headers: Readonly<Record<string, string>> = {
  'Content-Security-Policy': contentPolicy,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
const nameOf = (host: string): string => host.toLowerCase().replace(/:\d+$/, '')

const isForeign = (request: Request, host: string): boolean => {
  const origin = request.headers.get('origin')
  if (origin !== null && (!URL.canParse(origin) || new URL(origin).host !== host)) return true
  // A link from another page may be followed; reading the answer from a script there may not.
  const site = request.headers.get('sec-fetch-site')
  return (
    site !== null && !['same-origin', 'none'].includes(site) && request.headers.get('sec-fetch-mode') !== 'navigate'
  )
}

/** The one address that takes something. */
const markAddress = /^\/api\/runs\/[^/]+\/labels$/

/** A page of another site can neither send this header, which a browser asks about first, nor the origin of this one. */
const isOwnMark = (request: Request, host: string): boolean =>
  request.headers.get('x-drift-grpo') === 'mark' && request.headers.has('origin') && !isForeign(request, host)

/** Why a request is refused before anybody asks for a token; null when it is not. */
const refusal = (
  request: Request,
  host: string,
  loopbackOnly: boolean,
): readonly [text: string, status: 403 | 405] | null => {
  if (loopbackOnly && !isLoopback(nameOf(host))) return ['this dashboard answers on loopback only\n', 403]
  if (request.method === 'POST' && markAddress.test(new URL(request.url).pathname))
    return isOwnMark(request, host) ? null : ['only pages of this dashboard make marks\n', 403]
  if (request.method !== 'GET' && request.method !== 'HEAD') return ['this dashboard only reads\n', 405]
  return isForeign(request, host) ? ['requests from other sites are refused\n', 403] : null
}

const needToken = 'the token is missing or wrong: open http://HOST:PORT/?token=TOKEN once in this browser\n'

/** Lets those in who show the token. Once shown in an address it moves into a cookie, out of history and copies of it. */
const admit = async (c: Context, next: Next, host: string, expected: Buffer): Promise<Response | undefined> => {
  const isRight = (secret: string | undefined): boolean =>
    secret !== undefined && timingSafeEqual(digest(secret), expected)
  const given = c.req.query('token')
  if (given !== undefined && isRight(given)) {
    setCookie(c, cookieName(host), given, { httpOnly: true, sameSite: 'Strict', path: '/' })
    const rest = new URL(c.req.url)
    rest.searchParams.delete('token')
    // Never to another host, whatever the path begins with.
    return c.redirect(`/${rest.pathname.replace(/^\/+/, '')}${rest.search}`, 303)
  }
  const bearer = /^bearer (.+)$/i.exec(c.req.header('authorization') ?? '')?.[1]
  if (!isRight(bearer ?? getCookie(c, cookieName(host)))) return c.text(needToken, 401)
  await next()
  return undefined
}

/** Refuses requests from other sites, under other names, with other methods, and without the token. */
export const guard = ({ token, loopbackOnly }: DashboardAccess): MiddlewareHandler => {
  const expected = token === null ? null : digest(token)
  return async (c, next) => {
    for (const [name, value] of Object.entries(headers)) c.header(name, value)
    const host = c.req.header('host') ?? new URL(c.req.url).host
    const refused = refusal(c.req.raw, host, loopbackOnly)
    if (refused !== null) return c.text(...refused)
    if (expected !== null) return admit(c, next, host, expected)
    await next()
    return undefined
  }
}
