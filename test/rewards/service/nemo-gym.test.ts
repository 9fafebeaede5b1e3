import { describe, expect, it } from 'vitest'
import { referenceJudge } from '../../../judge/reference.ts'
import { rewardNames } from '../../../rewards/registry.generated.ts'
import { goldCompletions, samplePrompts } from '../../judge/samples.ts'
import { appWith, failingOn, labelOf, post } from './support.ts'

/**
 * A body of `/verify` as simple_agent posts it: the row's fields, and a response of the Responses interface with what
 * training adds. Written as text: the numbers in it do not survive being parsed and written again.
 */
const verifyBody = (label: unknown, text = goldCompletions.n3): string => `{
  "responses_create_params": {"input": ${JSON.stringify(samplePrompts.n3.messages)}, "temperature": 1.0, "metadata": null},
  "_ng_task_index": 3, "_ng_rollout_index": 0, "agent_ref": {"type": "responses_api_agents", "name": "drift_agent"},
  "label": ${JSON.stringify(label)},
  "response": {
    "id": "resp_1", "created_at": 1764500000.0, "object": "response", "incomplete_details": null,
    "output": [
      {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "<answer>not this</answer>"}]},
      {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
       "content": [{"type": "output_text", "annotations": [], "text": ${JSON.stringify(`${text}<|im_end|>`)}, "logprobs": null}],
       "prompt_token_ids": [12345678901234567890, 1], "generation_token_ids": [9, 8], "generation_log_probs": [-0.0, -1.0, -2.5e-7]}
    ]
  }
}`

const echoOf = (text: string, key: string, next: string): string => {
  const start = text.indexOf(`"${key}"`)
  const end = text.indexOf(next, start)
  return text.slice(text.indexOf(':', start) + 1, end === -1 ? undefined : end).trim()
}

const verify = async (app: ReturnType<typeof appWith>, sent: string, prefix = '') => {
  const response = await app.request(`${prefix}/verify`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: sent,
  })
  const text = await response.text()
  return { status: response.status, text, json: JSON.parse(text) as Record<string, unknown> }
}

describe('a resources server of NeMo-Gym', () => {
  it('is up, seeds sessions and allows verifying again', async () => {
    const app = appWith()
    expect((await app.request('/')).status).toBe(200)
    expect(await post(app, '/seed_session', { label: labelOf('n3'), responses_create_params: {} })).toMatchObject({
      status: 200,
      json: {},
    })
    expect(await (await app.request('/reverify_mode')).json()).toBe('stateless')
  })

  it('confirms the session ids that newer callers choose', async () => {
    const sent = { resources_session_id: 's1', episode_id: 'e1' }
    expect((await post(appWith(), '/seed_session', { ...sent, task_id: 't', task_data: {} })).json).toStrictEqual({
      resources_session_id: 's1',
    })
    expect((await post(appWith(), '/close_session', sent)).json).toStrictEqual({ resources_session_id: 's1' })
  })

  it('scores the text of the messages, and names every component', async () => {
    const { status, json } = await verify(appWith({ judge: referenceJudge }), verifyBody(labelOf('n3')))
    expect(status).toBe(200)
    expect(json).toMatchObject({ reward: expect.closeTo(5.6, 9), mask_sample: false, judge: 1, strict_format: 0.5 })
    const parts = json['reward_components'] as Record<string, number>
    expect(Object.keys(parts)).toStrictEqual([...rewardNames])
    expect(Object.values(parts).reduce((sum, part) => sum + part, 0)).toBeCloseTo(5.6, 9)
    expect(json).not.toHaveProperty('_ng_failure_class')
    expect(json).not.toHaveProperty('instance_config')
  })

  it('echoes request and response to the letter', async () => {
    const sent = verifyBody(labelOf('n3'))
    const { text } = await verify(appWith(), sent)
    expect(text).toContain(
      `"responses_create_params":${echoOf(sent, 'responses_create_params', ',\n  "_ng_task_index"')}`,
    )
    const response = echoOf(sent, 'response', '\n}')
    expect(response).toContain('12345678901234567890')
    expect(text).toContain(`"response":${response}`)
  })

  it('answers below the path of a rollout too', async () => {
    const { status, json } = await verify(appWith(), verifyBody(labelOf('n3')), '/ng-rollout/abc-1')
    expect(status).toBe(200)
    expect(json['reward']).toBeCloseTo(4.6, 9)
  })

  it('takes the prompt from verifier_metadata as well', async () => {
    const sent = verifyBody(labelOf('n3')).replace('"label"', '"verifier_metadata"')
    expect((await verify(appWith(), sent)).json['reward']).toBeCloseTo(4.6, 9)
  })

  it('scores a response without a message as an empty completion', async () => {
    const sent = JSON.stringify({
      responses_create_params: { input: 'hi' },
      label: labelOf('n3'),
      response: { output: [] },
    })
    expect((await verify(appWith(), sent)).json).toMatchObject({ reward: 0, mask_sample: false })
  })

  it('marks a sample that the judge failed on, in each of the ways that callers know', async () => {
    const { status, json } = await verify(appWith({ judge: failingOn('mail') }), verifyBody(labelOf('n3')))
    expect(status).toBe(200)
    expect(json).toMatchObject({
      reward: 0,
      mask_sample: true,
      instance_config: { mask_sample: true },
      _ng_failure_class: 'judge_failed',
      failure_kind: 'judge_failed',
      failure_reason: 'judge: the endpoint is down',
      json_valid: null,
      judge: null,
    })
    expect(Object.values(json['reward_components'] as object)).toStrictEqual(rewardNames.map(() => 0))
  })

  it('refuses a row without a prompt', async () => {
    const { status, json } = await verify(appWith(), verifyBody(null))
    expect(status).toBe(422)
    expect(json).toMatchObject({ error: { message: expect.stringContaining('label') } })
  })

  it('averages answers over all and over each task, without the masked ones', async () => {
    const { json } = await post(appWith(), '/aggregate_metrics', {
      verify_responses: [
        { _ng_task_index: 0, reward: 4, mask_sample: false, json_valid: 1 },
        { _ng_task_index: 0, reward: 2, mask_sample: false, json_valid: 0 },
        { _ng_task_index: 1, reward: 0, mask_sample: true, json_valid: null },
        { _ng_task_index: 2, reward: 3 },
      ],
    })
    expect(json).toStrictEqual({
      group_level_metrics: [
        { _ng_task_index: 0, 'mean/reward': 3, 'mean/json_valid': 0.5 },
        { _ng_task_index: 2, 'mean/reward': 3 },
      ],
      agent_metrics: { 'mean/reward': 3, 'mean/json_valid': 0.5, unscored: 1 },
      key_metrics: { 'mean/reward': 3 },
    })
  })

  it('aggregates nothing into nothing', async () => {
    expect((await post(appWith(), '/aggregate_metrics', { verify_responses: [] })).json).toStrictEqual({
      group_level_metrics: [],
      agent_metrics: { unscored: 0 },
      key_metrics: {},
    })
  })
})
