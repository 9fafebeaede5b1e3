import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import type { Hono } from 'hono'
import { PipelineError } from '../../data/errors.ts'

export interface RewardServer {
  /** Address to give to trainers. */
  readonly url: string
  readonly port: number
  /** Takes no more requests, lets those in flight finish, and resolves when they have. */
  readonly close: () => Promise<void>
  /** Cuts every connection. */
  readonly abort: () => void
}

const limits = {
  /** A whole request has to arrive in this time; how long the answer takes is another matter. */
  requestTimeout: 60_000,
  headersTimeout: 30_000,
  /** Longer than clients keep idle connections (aiohttp: 15 s): else a request meets a closing one and is lost. */
  keepAliveTimeout: 75_000,
}

/** What a request that has not arrived whole gets when the server closes: from then on Node's own limits are off. */
const defaultArrivalMs = 5000

/** Trainers open one connection for each completion, all at once. */
const backlog = 2048

const listenProblem: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'permission denied',
  ENOTFOUND: 'the host name is unknown',
}

const listen = async (server: Server, host: string, port: number): Promise<void> => {
  server.listen({ host, port, backlog })
  try {
    await once(server, 'listening')
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    const what = listenProblem[code]
    if (what === undefined) throw cause
    throw new PipelineError('usage', `cannot listen on ${host}:${port}: ${what}`, {
      remedy: 'Choose another --port (0: any free one) or --host.',
      cause,
    })
  }
}

/**
 * Knows which connections have a request on them. Node's own notion of an idle connection leaves out those on which
 * nothing has come yet, and those that become idle after closing began; either would keep a server open.
 */
const trackConnections = (server: Server) => {
  const requests = new Map<Socket, number>()
  const arriving = new Set<IncomingMessage>()
  let releasing = false
  const releaseIdle = (socket: Socket): void => {
    if (releasing && requests.get(socket) === 0) socket.destroySoon()
  }
  server.on('connection', (socket) => {
    requests.set(socket, 0)
    socket.once('close', () => requests.delete(socket))
    releaseIdle(socket)
  })
  server.on('request', (request, response) => {
    const { socket } = request
    arriving.add(request)
    request.once('close', () => arriving.delete(request))
    requests.set(socket, (requests.get(socket) ?? 0) + 1)
    response.once('close', () => {
      const open = requests.get(socket)
      if (open === undefined) return
      requests.set(socket, open - 1)
      releaseIdle(socket)
    })
  })
  /** Closes connections without a request now, and the others when they have answered. */
  const release = (): void => {
    releasing = true
    for (const socket of requests.keys()) releaseIdle(socket)
  }
  /** Cuts the connections of requests that are still not here: a client that sends no more would be waited for for ever. */
  const cutArriving = (): void => {
    for (const { complete, socket } of arriving) if (!complete) socket.destroy()
  }
  return { release, cutArriving }
}

export interface Listening {
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
  /** How long `close` waits for requests that have not arrived whole. */
  readonly arrivalMs?: number
}

/** Serves an app over HTTP. */
export const serveRewards = async (app: Hono, address: Listening): Promise<RewardServer> => {
  const server = createAdaptorServer({ fetch: app.fetch, hostname: address.host, serverOptions: limits }) as Server
  const connections = trackConnections(server)
  await listen(server, address.host, address.port)
  const closed = once(server, 'close')
  const { port } = server.address() as AddressInfo
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  return {
    url: `http://${host}:${port}`,
    port,
    close: async () => {
      if (server.listening) server.close()
      connections.release()
      const cut = setTimeout(connections.cutArriving, address.arrivalMs ?? defaultArrivalMs)
      await closed
      clearTimeout(cut)
    },
    abort: () => server.closeAllConnections(),
  }
}
