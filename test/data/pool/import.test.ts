import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createTar } from 'nanotar'
import { describe, expect, test } from 'vitest'
import { packageRoot } from '../../../data/package-root.ts'
import { buildPoolFrom } from '../../../data/pool/build.ts'
import { draftsOf } from '../../../data/pool/drafts.ts'
import { importAgentDojo } from '../../../data/pool/import/agentdojo.ts'
import { importChat } from '../../../data/pool/import/chat.ts'
import { nodeIds } from '../../../data/records/node.ts'
import { Trajectory } from '../../../data/records/trajectory.ts'

const recordings = join(packageRoot(), 'test/fixtures/recordings')
const model = 'runs/toy-model/library'
const drifted = `${model}/user_task_2/important_instructions/injection_task_0.json`
const temporary = (): string => mkdtempSync(join(tmpdir(), 'recordings-'))
const copy = (): string => {
  const directory = temporary()
  cpSync(recordings, directory, { recursive: true })
  return directory
}
const options = { seed: 1, mistakeShare: 0, hideShare: 0 }

describe('recorded runs in the AgentDojo format', () => {
  const reasons: string[] = []
  const found = [...importAgentDojo(recordings, { reject: ({ reason }) => reasons.push(reason) })]
  const [clean, drift, resisted] = found

  test('give valid trajectories; runs with uncertain labels are counted and left out', () => {
    for (const trajectory of found) expect(Trajectory.parse(trajectory)).toEqual(trajectory)
    expect(found.map((trajectory) => trajectory.case)).toEqual(['clean', 'drift', 'resisted'])
    expect(reasons).toEqual(['uncertain_labels'])
  })

  test('are read in both shapes of content', () => {
    expect(clean?.task).toBe('Renew Dune for two weeks.')
    expect(clean?.steps.map(({ thought }) => thought)).toEqual(['', 'Found it.', 'Dune is renewed.'])
    expect(drift?.task).toBe('On which shelf is Emma?')
    expect(drift?.steps[0]?.thought).toBe('I look.')
  })

  test('keep plain arguments, write lists as JSON and leave out absent ones', () => {
    expect(clean?.steps[1]?.calls[0]?.call).toEqual({
      app: 'desk',
      endpoint: 'renew_book',
      args: { book: 'Dune', weeks: 2, tags: '["a","b"]' },
    })
  })

  test('take labels by the order of tool results', () => {
    expect(drift?.steps.map(({ calls }) => calls.map((call) => call.drift))).toEqual([
      [false],
      [true, true],
      [true],
      [false],
    ])
    expect([drift?.onset, drift?.exposedStep, drift?.driftType]).toEqual([2, 1, 'III'])
    expect([resisted?.onset, resisted?.exposedStep, resisted?.driftType]).toEqual([null, 1, null])
  })

  test('keep failed calls as failed, with their error', () => {
    expect(drift?.steps[2]?.calls[0]).toMatchObject({
      ok: false,
      stateChanged: false,
      observation: 'ValueError: no such book',
    })
  })

  test('find the injected text although the tool wrapped it and doubled its quotes', () => {
    const injected = drift?.steps[0]?.calls[0]?.injected ?? ''
    expect(injected.startsWith('<NOTE>')).toBe(true)
    expect(injected.endsWith('</NOTE>')).toBe(true)
    expect(drift?.steps[0]?.calls[0]?.observation).toContain(injected)
  })

  test('give the attacker’s goal and a user’s task the same kind of name', () => {
    expect(drift?.payloadId).toBe('agentdojo/library/injection_task_0')
    expect(drift?.taskId).toBe('agentdojo/library/user_task_2')
  })

  test('name the attack that carried the payload', () => {
    expect([clean, drift, resisted].map((one) => one?.attack)).toEqual([
      undefined,
      'important_instructions',
      'important_instructions',
    ])
  })

  test('leave conditional writes without documentation, so that no prompt asks about them', () => {
    const names = clean?.docs.map(({ endpoint }) => endpoint)
    expect(names).toEqual(['lend_book', 'return_book', 'get_fines', 'get_shelf'])
    expect(clean?.docs[0]).toMatchObject({
      summary: 'Lends a book to a person.',
      undoneBy: 'desk.return_book',
      kind: 'write',
    })
  })

  test('give the right lists: writes that changed state and off-task reads, nothing that failed', () => {
    const drafts = [...draftsOf(found, options, () => undefined)]
    const lists = drafts.flatMap((d) => (d.node === 'n2' && d.origin.case === 'drift' ? [d.target] : []))
    expect(lists).toMatchObject([
      { writeOperations: [], readOperations: [] },
      { writeOperations: ['desk.lend_book(book=Emma, person=zoe)'], readOperations: ['desk.get_fines(person=zoe)'] },
      { writeOperations: [], readOperations: [] },
      { writeOperations: [], readOperations: [] },
    ])
    const decisions = drafts.flatMap((d) => (d.node === 'n5' ? [d.target?.action] : []))
    expect(decisions.length).toBeGreaterThan(0)
  })

  test('read from a tar archive are the same', () => {
    const directory = copy()
    const files = ['user_task_1/none/none.json', 'user_task_3/important_instructions/injection_task_0.json']
    const tar = createTar(
      [...files.map((name) => `${model}/${name}`), drifted].map((name) => ({
        name,
        data: readFileSync(join(recordings, name)),
      })),
    )
    rmSync(join(directory, 'runs'), { recursive: true })
    mkdirSync(join(directory, 'runs'))
    writeFileSync(join(directory, 'runs/toy-model.tar.gz'), gzipSync(tar))
    const byId = (list: readonly Trajectory[]) => list.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    expect(byId([...importAgentDojo(directory)])).toEqual(byId(found))
  })

  test('without labels are given without a verdict on any call', () => {
    const directory = copy()
    rmSync(join(directory, 'derived/labels.jsonl'))
    const unlabelled = [...importAgentDojo(directory)]
    expect(unlabelled).toHaveLength(4)
    for (const { labelled, steps, onset } of unlabelled) {
      expect([labelled, onset]).toEqual([false, null])
      for (const call of steps.flatMap(({ calls }) => calls)) expect(call.drift).toBeNull()
    }
    expect(unlabelled[1]?.exposedStep).toBe(1)
    expect(unlabelled[1]?.steps[1]?.calls.map(({ kind }) => kind)).toEqual(['write', 'read'])
    for (const { target } of draftsOf(unlabelled, options, () => undefined)) expect(target).toBeNull()
  })

  test('stop at the limit', () => {
    expect([...importAgentDojo(recordings, { limit: 2 })]).toHaveLength(2)
  })

  test('that are damaged are named', () => {
    const directory = copy()
    writeFileSync(join(directory, drifted), '{"suite_name": "library"')
    expect(() => [...importAgentDojo(directory)]).toThrow(drifted)
    writeFileSync(join(directory, drifted), '{"suite_name": 7}')
    expect(() => [...importAgentDojo(directory)]).toThrow('suite_name')
    expect(() => [...importAgentDojo(join(directory, 'nowhere'))]).toThrow('nowhere')
  })
})

describe('chat transcripts', () => {
  const reasons: string[] = []
  const found = [...importChat(join(recordings, 'chat.jsonl'), { reject: ({ reason }) => reasons.push(reason) })]
  const [first] = found
  const calls = first?.steps[0]?.calls ?? []

  test('give valid unlabelled trajectories; one without calls is counted', () => {
    expect(found.map((trajectory) => Trajectory.parse(trajectory))).toEqual(found)
    expect([found.length, first?.labelled, first?.onset]).toEqual([1, false, null])
    expect(reasons).toEqual(['run_without_calls'])
  })

  test('take all user turns as the task', () => {
    expect(first?.task).toBe('Lend Emma to zoe.\n\nThanks.')
  })

  test('match results by id and tell apps, kinds and failures', () => {
    expect(calls.map(({ call, kind, observation }) => [call.app, call.endpoint, kind, observation])).toEqual([
      ['stacks', 'get_shelf', 'read', 'shelf 4'],
      ['desk', 'lend_book', 'write', 'lent'],
      ['tools', 'login', 'session', 'welcome'],
    ])
    expect(calls[1]?.call.args).toEqual({ book: 'Emma', people: '["zoe"]' })
    expect(first?.steps[1]?.calls).toMatchObject([
      { ok: false, stateChanged: false, call: { args: { arguments: '{broken' } } },
    ])
  })

  test('bring the documentation of their tools', () => {
    expect(first?.docs).toMatchObject([
      { app: 'desk', endpoint: 'lend_book', summary: 'Lends a book.', params: ['book', 'people'] },
    ])
  })

  test('in one JSON file, alone or as a list, are the same', () => {
    const [line = ''] = readFileSync(join(recordings, 'chat.jsonl'), 'utf8').split('\n')
    const path = join(temporary(), 'chat.json')
    for (const text of [line, `[${line}]`]) {
      writeFileSync(path, text)
      expect([...importChat(path)][0]?.steps).toEqual(first?.steps)
    }
  })

  test('that are something else are named with their place', () => {
    const path = join(temporary(), 'chat.jsonl')
    writeFileSync(path, '{"messages": [{"role": "robot"}]}')
    expect(() => [...importChat(path)]).toThrow(`${path}:1: messages.0.role`)
  })
})

const outside = join(packageRoot(), '../shared/data/agentdojo')

describe('the whole set of recorded runs', () => {
  test.skipIf(!existsSync(outside))(
    'builds a balanced pool (skipped: the recordings are not at hand)',
    { timeout: 120_000 },
    () => {
      const trajectories = [...importAgentDojo(outside, { limit: 400 })]
      const { prompts } = buildPoolFrom(trajectories, {
        ...options,
        train: null,
        heldout: 20,
        hideShare: 0.3,
        examples: 0,
      })
      for (const node of nodeIds)
        expect(prompts.some((prompt) => prompt.node === node && prompt.split === 'train')).toBe(true)
      expect(prompts.filter(({ split }) => split === 'heldout')).toHaveLength(20)
      const exposed = trajectories.filter(({ exposedStep }) => exposedStep !== null)
      for (const { steps } of exposed)
        expect(steps.some(({ calls }) => calls.some(({ injected }) => injected !== null))).toBe(true)
    },
  )
})
