import { samplerUrls } from '../../../trainer/config.ts'
import { examineServer, type ServerFacts } from '../../../trainer/vllm/examine-server.ts'
import { fail, ok, skip, warn, type Check, type Finding } from '../check.ts'

const lastPart = (path: string): string => path.replace(/\/+$/, '').split('/').at(-1) ?? ''

/** Compares what is served under the base's name with the config's model, as far as names tell. */
const sameModel = (url: string, name: string, { root, version }: ServerFacts, path: string): Finding => {
  if (root === null) return warn(`${url} serves ${name}, and does not say from where`, 'See its log.')
  return lastPart(root) === lastPart(path)
    ? ok(`${url} serves ${root} as ${name}${version === null ? '' : ` (vLLM ${version})`}`)
    : fail(`${url} serves ${root} as ${name}, and model.path is ${path}`, 'Serve the model that is trained.')
}

const gravity = { skip: 0, ok: 1, warn: 2, fail: 3 } as const satisfies Record<Finding['state'], number>

export const samplerCheck: Check = {
  name: 'sampler',
  beforeTraining: true,
  run: async ({ config: { sampling, model }, env, signal }) => {
    const { server } = sampling
    if (server.kind !== 'vllm') return skip('the sampler is started with the run')
    const token = server.tokenEnv === null ? undefined : env[server.tokenEnv]
    if (server.tokenEnv !== null && !token)
      return fail(`${server.tokenEnv} is not set`, 'Set it to the key of that vLLM.')
    const contextTokens = model.maxPromptTokens + model.maxCompletionTokens
    const findings = await Promise.all(
      samplerUrls(server).map(async (url) => {
        const facts = await examineServer({ url, token, baseName: server.model, contextTokens }, signal)
        return sameModel(url, server.model, facts, model.path)
      }),
    )
    const worst = findings.reduce((one, other) => (gravity[other.state] > gravity[one.state] ? other : one))
    return worst.state === 'ok' ? ok(findings.map(({ detail }) => detail).join('; ')) : worst
  },
}
