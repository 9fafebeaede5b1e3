import { once } from 'node:events'
import { createServer } from 'node:net'
import { fail, ok, skip, type Check } from '../check.ts'

/** Can a server listen there? */
const isFree = async (host: string, port: number): Promise<boolean> => {
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
    throw error
  } finally {
    server.close()
  }
}

export const portsCheck: Check = {
  name: 'ports',
  beforeTraining: true,
  run: async ({ config: { judge }, leftBehind }) => {
    if (judge.kind !== 'llm' || judge.server === null) return skip('every server chooses a free port')
    const port = Number(new URL(judge.baseUrl).port)
    await leftBehind()
    return (await isFree('127.0.0.1', port))
      ? ok(`${port} is free for the judge server`)
      : fail(
          `port ${port} of judge.baseUrl is taken`,
          'End the program that holds it, or set judge.baseUrl to another port.',
        )
  },
}
