import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { StubWorker } from './stub-worker.ts'

/** The stub worker as a process of its own: what it holds in memory is not counted as the trainer's. Prints its address. */
const stub = new StubWorker()

const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const key = request.headers['idempotency-key']
  const { status, body } = stub.answer(
    `${request.method} ${request.url}`,
    Buffer.concat(chunks).toString('utf8'),
    typeof key === 'string' ? key : undefined,
  )
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const server = createServer((request, response) => {
  serve(request, response).catch(() => response.destroy())
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.stderr.write(`stub at http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
// Ends with whoever started it.
process.stdin.resume().once('end', () => process.exit(0))
