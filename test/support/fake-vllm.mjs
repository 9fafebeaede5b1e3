#!/usr/bin/env node
// Plays `vllm` for tests of how it is started and supervised: a real process and a real HTTP server, without a model. What it
// samples is a function of prompt, seed and adapter directory. --fake=MODE among the arguments chooses how it behaves:
//   ok (default), never-healthy, dies (before it listens), other-model, stubborn (ignores SIGTERM, and so does its child),
//   hold (takes requests for completions and never answers), poison (such a request ends it)
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
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

/** @type {Map<string, string>} */
const adapters = new Map()

/** @param {number} status @param {string} message */
const refusal = (status, message) => ({
  status,
  body: JSON.stringify({ error: { message, type: 'NotFoundError', param: null, code: status } }),
})

/** @param {string} text */
const numberOf = (text) => createHash('sha256').update(text).digest().readUInt32BE()

/** @param {any} body @param {string} root */
const choices = (body, root) => {
  const prompts = Array.isArray(body.prompt[0]) ? body.prompt : [body.prompt]
  return prompts.flatMap((/** @type {number[]} */ ids, /** @type {number} */ at) =>
    Array.from({ length: body.n }, (_, i) => ({
      index: at * body.n + i,
      text: 'x',
      token_ids: [numberOf(`${root} ${ids.join()} ${body.seed} ${i}`) % 1000],
      logprobs: { token_logprobs: [-1] },
      finish_reason: 'stop',
      prompt_logprobs: ids.map((id, k) => (k === 0 ? null : { [id]: { logprob: -(numberOf(`${root} ${id}`) % 97) } })),
    })),
  )
}

/** @param {string | undefined} url @param {any} body @returns {{ status: number, body: string } | null} */
const answer = (url, body) => {
  const base = value('--served-model-name') ?? ''
  if (url === '/v1/load_lora_adapter') {
    adapters.set(body.lora_name, body.lora_path)
    return { status: 200, body: `Success: LoRA adapter '${body.lora_name}' added successfully.` }
  }
  if (url === '/v1/unload_lora_adapter') {
    const known = adapters.delete(body.lora_name)
    return known
      ? { status: 200, body: 'Success' }
      : refusal(404, `The lora adapter '${body.lora_name}' cannot be found.`)
  }
  if (url === '/v1/completions') {
    const root = body.model === base ? base : adapters.get(body.model)
    if (root === undefined) return refusal(404, `The model \`${body.model}\` does not exist.`)
    if (mode === 'hold' && body.prompt_logprobs === undefined) return null
    if (mode === 'poison' && body.prompt_logprobs === undefined) {
      console.error('CUDA error: an illegal memory access was encountered')
      process.exit(1)
    }
    return { status: 200, body: JSON.stringify({ choices: choices(body, root) }) }
  }
  return { status: 404, body: '{"detail":"Not Found"}' }
}

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
    const send = (status, body) => {
      // As vLLM does: its word of success is plain text, without a type.
      const headers = body.startsWith('{') ? { 'content-type': 'application/json' } : {}
      response.writeHead(status, headers).end(body)
    }
    if (request.url === '/health') {
      asked += 1
      return send(mode === 'never-healthy' || asked < 3 ? 503 : 200, '')
    }
    const key = process.env['VLLM_API_KEY']
    if (key !== undefined && request.headers.authorization !== `Bearer ${key}`)
      return send(401, '{"error":"Unauthorized"}')
    if (request.url === '/v1/models') {
      const id = mode === 'other-model' ? 'another' : value('--served-model-name')
      const loaded = [...adapters].map(([name, root]) => ({ id: name, root, created: started }))
      return send(200, JSON.stringify({ object: 'list', data: [{ id, root: args[1], created: started }, ...loaded] }))
    }
    let text = ''
    request.setEncoding('utf8').on('data', (part) => (text += part))
    request.on('end', () => {
      const reply = answer(request.url, text === '' ? {} : JSON.parse(text))
      if (reply === null) console.error('holding a request')
      else send(reply.status, reply.body)
    })
    return undefined
  }).listen(Number(value('--port')), value('--host'), () => console.error('listening'))
}

if (args[0] === '--version') console.log(mode === 'old' ? '0.9.0' : '0.27.1')
else if (args[0] === 'serve' && args[1] === '--help=all') console.log(`usage: vllm serve\n  ${options.join('\n  ')}`)
else if (args[0] === 'serve') serve()
else process.exit(2)
