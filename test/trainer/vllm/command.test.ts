import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../../configs/load.ts'
import { packageRoot } from '../../../data/package-root.ts'
import { judgeCommand, policyCommand, type EngineCommand } from '../../../trainer/vllm/command.ts'
import { checkEngine } from '../../../trainer/vllm/features.ts'
import { diagnoseEngine } from '../../../trainer/vllm/log-tail.ts'

const program = join(packageRoot(), 'test/support/fake-vllm.mjs')

const commandsOf = async (...sets: string[]): Promise<{ policy: EngineCommand; judge: EngineCommand }> => {
  const { config } = await loadConfig({ name: 'granite-2b.yaml', sets, cwd: packageRoot() })
  const { sampling, judge } = config
  if (sampling.server.kind !== 'spawn' || judge.kind !== 'llm' || judge.server === null) throw new Error('no engines')
  return {
    policy: policyCommand(sampling.server, config, { model: '/m', port: 8123, token: 'secret' }),
    judge: judgeCommand(judge, judge.server, { model: '/j', apiKey: null }),
  }
}
const fake = [`sampling.server.command=${program}`, `judge.server.command=${program}`]

describe('the command line of the policy server', () => {
  it('allows adapters at run time, returns log-probs of what was sampled, and takes no defaults of the model', async () => {
    const { args, env } = (await commandsOf()).policy
    const line = args.join(' ')
    expect(line).toMatch(/^serve \/m --served-model-name base --host 127\.0\.0\.1 --port 8123 /)
    expect(line).toContain('--enable-lora --max-lora-rank 128 --max-loras 2 --max-cpu-loras 3')
    expect(line).toContain('--max-model-len 2300 --max-num-seqs 64 --gpu-memory-utilization 0.28')
    expect(line).toContain('--generation-config vllm --logprobs-mode processed_logprobs')
    expect(env).toMatchObject({ VLLM_ALLOW_RUNTIME_LORA_UPDATING: '1', VLLM_API_KEY: 'secret' })
    expect(line).not.toContain('secret')
  })

  it('has room for adapters of a rank that vLLM knows', async () => {
    const { args } = (await commandsOf('lora.rank=20')).policy
    expect(args[args.indexOf('--max-lora-rank') + 1]).toBe('32')
  })

  it('refuses further arguments that would take back its own', async () => {
    await expect(commandsOf('sampling.server.extraArguments=[--dtype=float16]')).rejects.toThrow(
      'sampling.server.extraArguments: --dtype is set already',
    )
    const { policy } = await commandsOf('sampling.server.extraArguments=[--shutdown-timeout, "30"]')
    expect(policy.args.slice(-2)).toEqual(['--shutdown-timeout', '30'])
  })
})

describe('the command line of the judge server', () => {
  it('serves the judge’s model under its name, at the address where it will be asked', async () => {
    const { args, port } = (await commandsOf('judge.server.quantization=awq_marlin')).judge
    expect(port).toBe(8001)
    expect(args.join(' ')).toContain('serve /j --served-model-name Qwen/Qwen3-14B-AWQ --host 127.0.0.1 --port 8001')
    expect(args.join(' ')).toContain('--gpu-memory-utilization 0.3 --quantization awq_marlin')
  })

  it('can be started only at an address of this machine', async () => {
    await expect(commandsOf('judge.baseUrl=http://judge.example:8001/v1')).rejects.toThrow(
      'must be http://127.0.0.1:PORT/v1 when judge.server starts an engine there',
    )
  })
})

describe('an installed vLLM', () => {
  it('is asked for its version and for the options that are used', async () => {
    const { policy, judge } = await commandsOf(...fake)
    expect(await checkEngine(policy, 'sampler')).toBe('0.27.1')
    expect(await checkEngine(judge, 'judge')).toBe('0.27.1')
  })

  it('that lacks an option is refused by the name of that option', async () => {
    const { policy } = await commandsOf(...fake, 'sampling.server.extraArguments=[--does-not-exist]')
    await expect(checkEngine(policy, 'sampler')).rejects.toThrow('vLLM 0.27.1 has no option --does-not-exist')
  })

  it('that is not there is refused by its path', async () => {
    const { policy } = await commandsOf('sampling.server.command=/nowhere/vllm')
    await expect(checkEngine(policy, 'sampler')).rejects.toThrow('there is no program /nowhere/vllm')
  })

  it('that is no vLLM is refused', async () => {
    const { policy } = await commandsOf(`sampling.server.command=${process.execPath}`)
    const node = { ...policy, program: process.execPath }
    await expect(checkEngine(node, 'sampler')).rejects.toThrow(/is no vLLM of version 0.15 or newer: it says v\d+/)
  })
})

describe('the last lines of an engine that ended', () => {
  it.each([
    ['vllm serve: error: unrecognized arguments: --x', 'Correct extraArguments'],
    ['ValueError: No available memory for the cache blocks.', 'Raise memoryFraction'],
    ['OSError: [Errno 98] address already in use', 'The port is taken'],
    ['AssertionError: Error in memory profiling.', 'Another process released GPU memory'],
    ['huggingface_hub.errors.GatedRepoError: 403', 'HF_TOKEN'],
  ])('%s', (line, remedy) => {
    expect(diagnoseEngine(['before', line])).toContain(remedy)
  })

  it('may say nothing that is known', () => {
    expect(diagnoseEngine(['Segmentation fault'])).toBeUndefined()
  })
})
