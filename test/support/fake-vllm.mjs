#!/usr/bin/env node
// Plays `vllm` for tests of how it is started: a real process and a real HTTP server, without a model. --fake=MODE among the
// arguments chooses how it behaves:
//   ok (default), never-healthy, dies (before it listens), other-model, stubborn (ignores SIGTERM, and so does its child)
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import process from 'node:process'

const args = process.argv.slice(2)
/** @param {string} name */
const value = (name) => args[args.indexOf(name) + 1]
const mode = args.find((arg) => arg.startsWith('--fake='))?.slice('--fake='.length) ?? 'ok'
const options = [
  ...['--served-model-name', '--host', '--port', '--dtype', '--generation-config', '--logprobs-mode', '--enable-lora'],
  ...['--max-lora-rank', '--max-loras', '--max-cpu-loras', '--max-model-len', '--max-num-seqs'],
  ...['--gpu-memory-utilization', '--enforce-eager', '--quantization', '--fake'],
]

const serve = () => {
  console.error('loading weights')
  if (mode === 'dies') {
    console.error('ValueError: Free memory on device cuda:0 (3.1/79.2 GiB) on startup is less than desired')
    process.exit(1)
  }
  if (mode === 'stubborn') {
    process.on('SIGTERM', () => console.error('not yet'))
    const child = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'])
    console.error(`child ${child.pid}`)
  }
  let asked = 0
  const started = Date.now()
  createServer((request, response) => {
    /** @param {number} status @param {string} body */
    const send = (status, body) => response.writeHead(status, { 'content-type': 'application/json' }).end(body)
    if (request.url === '/health') {
      asked += 1
      return send(mode === 'never-healthy' || asked < 3 ? 503 : 200, '')
    }
    const key = process.env['VLLM_API_KEY']
    if (key !== undefined && request.headers.authorization !== `Bearer ${key}`)
      return send(401, '{"error":"Unauthorized"}')
    if (request.url === '/v1/models') {
      const id = mode === 'other-model' ? 'another' : value('--served-model-name')
      return send(200, JSON.stringify({ object: 'list', data: [{ id, root: args[1], created: started }] }))
    }
    return send(404, '{"detail":"Not Found"}')
  }).listen(Number(value('--port')), value('--host'), () => console.error('listening'))
}

if (args[0] === '--version') console.log(mode === 'old' ? '0.9.0' : '0.27.1')
else if (args[0] === 'serve' && args[1] === '--help=all') console.log(`usage: vllm serve\n  ${options.join('\n  ')}`)
else if (args[0] === 'serve') serve()
else process.exit(2)
