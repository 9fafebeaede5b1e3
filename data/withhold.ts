/** Shorter ones are words that may stand anywhere; nobody guards a server with them. */
const shortest = 8

/** What a server may give back of a header that lets us in: its credentials, and those that Basic wraps. */
const secretsOf = (authorization: string): string[] => {
  const credentials = authorization.slice(authorization.indexOf(' ') + 1)
  const unwrapped = /^basic /i.test(authorization) ? Buffer.from(credentials, 'base64').toString('utf8') : ''
  return [credentials, unwrapped, unwrapped.slice(unwrapped.indexOf(':') + 1)].filter((part) => part.length >= shortest)
}

/**
 * A reply without the credentials that the request carried. Servers and proxies repeat headers in what they say of errors,
 * and that goes on into messages, logs and records. Not for results: their words belong to whoever made them, and may
 * happen to hold a short token.
 */
export const withhold = (reply: string, authorization: string | undefined): string =>
  authorization === undefined
    ? reply
    : secretsOf(authorization).reduce((text, secret) => text.replaceAll(secret, '***'), reply)
