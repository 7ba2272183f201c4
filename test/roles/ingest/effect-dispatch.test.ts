// Effects that a service dispatches: verified payloads, one effect for each id, and the permission to dispatch alone.
import { expect, test } from 'vitest'
import { canonicalDigest } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { get } from '../../../daemon/roles/ingest/effect/get.ts'
import { list } from '../../../daemon/roles/ingest/effect/list.ts'
import { update } from '../../../daemon/roles/ingest/effect/update.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { callTool } from '../../support/mcp/mcp-client.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { setUpIngestSite, waitUntilRunOver } from './ingest-site.ts'

const site = setUpIngestSite()
const service = () => site().as({ subject: 'dispatcher', roles: ['service'] })

const payload = { operators: [{ params: { file: 'sent.csv' }, name: 'ingest_file' }], b: 1, a: 'é' }
const request = (effect_id: string, more: Readonly<Record<string, unknown>> = {}) => ({
  ...{ effect_id, edition_id: 'ed_1', effect_type: 'external_dispatch', target: { system: 'x' }, payload },
  ...{ payload_hash: canonicalDigest(payload), ...more },
})

/** The receipt, or the code of the refusal. */
async function dispatch({ token }: CheckedClient, input: Readonly<Record<string, unknown>>) {
  const port = Number(new URL(site().url('ingest')).port)
  const { isError, content, structuredContent } = await callTool(port, 'effect_dispatch', input, { token })
  return isError ? (JSON.parse(content[0]?.text ?? '') as { code: string }).code : structuredContent
}

const uidOf = (receipt: unknown) => (receipt as { external_reference: string }).external_reference

test('a service that may dispatch and nothing else has its effect deployed and run once', async () => {
  const sender = await service()
  site().writeFile('sent.csv', 'id\n1\n')
  const sent = request('eff_1', { run_on_deploy: true, deadline: '2020-01-01T00:00:00Z' })
  const first = await dispatch(sender, sent)
  expect(first).toMatchObject({ acknowledged: true, dag_id: 'intel__eff_1', status: 'pending_validation' })
  expect(await dispatch(sender, sent)).toEqual(first)
  const uid = uidOf(first)
  await waitUntil(async () => (await sender.ok(get, { uid })).status !== 'pending_validation')
  expect((await waitUntilRunOver(sender, 'intel__eff_1', 'deploy__1')).state).toBe('success')
  expect(await dispatch(sender, sent)).toEqual(first)
  expect(await sender.ok(get, { uid })).toMatchObject({
    status: 'active',
    ...{ created_by: 'intelligence', correlation_id: 'eff_1', edition_id: 'ed_1', deadline: '2020-01-01T00:00:00Z' },
    ...{ effect_type: 'external_dispatch', target: { system: 'x' }, payload_hash: canonicalDigest(payload) },
  })
  expect((await sender.ok(list, {})).items.filter(({ dag_id }) => dag_id === 'intel__eff_1')).toHaveLength(1)
  expect(await sender.refusal(update, { uid, name: 'mine' })).toBe('forbidden')
})

test('a payload that is not the hashed one leaves nothing', async () => {
  const sender = await service()
  const right = canonicalDigest(payload)
  const wrong = [
    `${right[0] === '0' ? '1' : '0'}${right.slice(1)}`,
    right.toUpperCase(),
    right.slice(1),
    `${right}0`,
    '',
  ]
  for (const payload_hash of wrong) expect(await dispatch(sender, request('eff_2', { payload_hash }))).toBe('invalid')
  expect(await dispatch(sender, request('eff_2', { payload: { ...payload, b: 2 } }))).toBe('invalid')
  expect((await sender.ok(list, {})).items.map(({ dag_id }) => dag_id)).not.toContain('intel__eff_2')
})

test('another payload under an id is refused, and the first stands', async () => {
  const sender = await service()
  const uid = uidOf(await dispatch(sender, request('eff_3')))
  const other = { operators: [{ name: 'ingest_file', params: { file: 'other.csv' } }] }
  const replay = request('eff_3', { payload: other, payload_hash: canonicalDigest(other) })
  expect(await dispatch(sender, replay)).toBe('already_exists')
  expect((await sender.ok(get, { uid })).payload_hash).toBe(canonicalDigest(payload))
})

test('a tenant has effects of its own ids, and who may write may not dispatch', async () => {
  const sender = await service()
  const other = await site().as({ subject: 'eve', tenant: 'bravo', roles: ['service'] })
  const own = uidOf(await dispatch(sender, request('eff_4')))
  const theirs = uidOf(await dispatch(other, request('eff_4', { edition_id: 'ed_2' })))
  expect(theirs).toMatch(/^ef_/)
  expect(theirs).not.toBe(own)
  expect(await other.refusal(get, { uid: own })).toBe('not_found')
  expect(await dispatch(await site().as(), request('eff_5'))).toBe('forbidden')
  for (const effect_id of ['', '../x', 'a/b', 'x'.repeat(121)])
    expect(await dispatch(sender, request(effect_id))).toBe('invalid')
})

test('an effect type without operators is the operator, and an unknown one is named', async () => {
  const sender = await service()
  const body = { message: 'x' }
  const sent = request('eff_6', { effect_type: 'fax', payload: body, payload_hash: canonicalDigest(body) })
  const uid = uidOf(await dispatch(sender, sent))
  const shown = await waitUntil(async () => {
    const effect = await sender.ok(get, { uid })
    return effect.status !== 'pending_validation' && effect
  })
  expect(shown).toMatchObject({ status: 'error', fault: { reason: expect.stringContaining('no operator fax') } })
  const none = { operators: 'all' }
  expect(await dispatch(sender, request('eff_7', { payload: none, payload_hash: canonicalDigest(none) }))).toBe(
    'invalid',
  )
})
