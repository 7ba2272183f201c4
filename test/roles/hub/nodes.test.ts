// Which sites join a coalition under which name, and how the others see the members.
import { describe, expect, test } from 'vitest'
import { publish as offer } from '../../../daemon/roles/hub/capability/publish.ts'
import { publish } from '../../../daemon/roles/hub/feed/publish.ts'
import { acknowledge } from '../../../daemon/roles/hub/message/acknowledge.ts'
import { deliver } from '../../../daemon/roles/hub/message/deliver.ts'
import { list as mailbox } from '../../../daemon/roles/hub/message/list.ts'
import { get } from '../../../daemon/roles/hub/node/get.ts'
import { heartbeat } from '../../../daemon/roles/hub/node/heartbeat.ts'
import { list } from '../../../daemon/roles/hub/node/list.ts'
import { register } from '../../../daemon/roles/hub/node/register.ts'
import { buildMail, buildRegistration, setUpHubSite } from './hub-site.ts'

const world = setUpHubSite({ heartbeat_s: 10, lost_after: 3 })
const offeredCapability = {
  hosts: ['consensus_session' as const],
  accepts: [{ type: 'opinion', lens_id: 'vessel-identity' }],
}
const statusEvent = {
  event_id: 'e1',
  session_id: 'ses_1',
  lens_id: 'lens',
  state: 'RATIFIED' as const,
  at: '2026-03-01T12:00:00.000Z',
}

async function listAuditRecords(target: string) {
  const { token } = await world().site.as({ subject: 'aud', roles: ['auditor'] })
  const { json } = await world().site.call('hub', 'GET', `/api/v2/audit?target=${target}`, undefined, { token })
  return (json as { items: { event: { action: string } }[] }).items.map(({ event }) => event.action)
}

test('a node registers once, however often; a changed description is stored and audited', async () => {
  const bravo = await world().as('bravo')
  const before = await listAuditRecords('bravo')
  const first = await bravo.ok(register, { id: 'bravo', ...buildRegistration('bravo') })
  expect(await bravo.ok(register, { id: 'bravo', ...buildRegistration('bravo') })).toEqual(first)
  expect(first).toMatchObject({ heartbeat_s: 10, node: { id: 'bravo', kind: 'mission_service', state: 'present' } })
  expect(await listAuditRecords('bravo')).toEqual(before)
  const changed = await bravo.ok(register, { id: 'bravo', ...buildRegistration('bravo'), description: 'moved' })
  expect(changed.node).toEqual({ ...first.node, description: 'moved' })
  expect(await listAuditRecords('bravo')).toHaveLength(before.length + 1)
})

test('a node cannot register under its own name as another site', async () => {
  const bravo = await world().as('bravo')
  for (const site of ['alpha', 'charlie']) {
    const refused = await bravo.call(register, { id: 'bravo', ...buildRegistration('bravo'), site })
    expect(refused.problem).toMatchObject({ code: 'invalid', errors: [{ path: 'site' }] })
  }
  expect((await bravo.ok(get, { id: 'bravo' })).site).toBe('bravo')
})

test('the capability of a node is visible to the others, and stays when it registers again', async () => {
  const alpha = await world().as('alpha')
  await alpha.ok(offer, { id: 'alpha', ...offeredCapability })
  const records = await listAuditRecords('alpha')
  await alpha.ok(offer, { id: 'alpha', ...offeredCapability })
  await alpha.ok(register, { id: 'alpha', ...buildRegistration('alpha') })
  expect(await listAuditRecords('alpha')).toEqual(records)
  expect((await (await world().as('bravo')).ok(get, { id: 'alpha' })).capability?.message).toEqual(offeredCapability)
})

test('a node that misses its heartbeats is listed as lost, and is back with the next one', async () => {
  const [alpha, bravo] = [await world().as('alpha'), await world().as('bravo')]
  const states = async () => (await bravo.ok(list, {})).items.map(({ id, state }) => [id, state])
  await alpha.ok(heartbeat, { id: 'alpha' })
  await bravo.ok(heartbeat, { id: 'bravo' })
  world().site.clock.advance(30_000)
  expect(await states()).toEqual([
    ['alpha', 'present'],
    ['bravo', 'present'],
  ])
  await bravo.ok(heartbeat, { id: 'bravo' })
  world().site.clock.advance(1)
  expect(await states()).toEqual([
    ['alpha', 'lost'],
    ['bravo', 'present'],
  ])
  const { token } = await world().site.as({ roles: ['admin'] })
  const { text } = await world().site.call('hub', 'GET', '/metrics', undefined, { token })
  expect(text).toMatch(/hub_node\{.*state="lost".*\} 2/)
  await alpha.ok(heartbeat, { id: 'alpha' })
  expect((await states())[0]).toEqual(['alpha', 'present'])
})

describe('nobody acts as a node that is not theirs', () => {
  const acts = {
    register: (id: string) => [register, { id, ...buildRegistration('mallory') }] as const,
    heartbeat: (id: string) => [heartbeat, { id }] as const,
    offer: (id: string) => [offer, { id, ...offeredCapability }] as const,
    publish: (id: string) => [publish, { id, ...statusEvent }] as const,
    deliver: (id: string) => [deliver, { id: 'bravo', from: id, ...buildMail(1) }] as const,
    read: (id: string) => [mailbox, { id, from: 'bravo' }] as const,
    acknowledge: (id: string) => [acknowledge, { id, messages: ['mail_1'] }] as const,
  }
  const posing = [
    ['another node', { subject: 'node:bravo', roles: ['node'] }],
    ['an admin', { subject: 'olga', roles: ['admin'] }],
    ['the same subject of another tenant', { subject: 'node:alpha', roles: ['node'], tenant: 'tenant-z' }],
  ] as const
  test.each(Object.entries(acts))('%s', async (_, act) => {
    const before = await (await world().as('alpha')).ok(get, { id: 'alpha' })
    for (const [who, claimed] of posing) {
      const person = await world().site.as(claimed)
      const [operation, input] = act('alpha')
      // biome-ignore lint/suspicious/noExplicitAny: a table of operations with inputs of different shapes
      expect(await person.refusal(operation as any, input as any), who).toBe('forbidden')
    }
    expect(await (await world().as('alpha')).ok(get, { id: 'alpha' })).toEqual(before)
  })

  test('nor under a name that nobody was enrolled for, nor one of the language', async () => {
    const mallory = await world().site.as({ subject: 'mallory', roles: ['node'] })
    for (const id of ['mallory', 'constructor', 'valueof']) {
      expect(await mallory.refusal(register, { id, ...buildRegistration('mallory') })).toBe('forbidden')
    }
  })

  test('and who is enrolled must register before anything else', async () => {
    const charlie = await world().as('charlie')
    expect(await charlie.refusal(heartbeat, { id: 'charlie' })).toBe('not_found')
    expect(await charlie.refusal(publish, { id: 'charlie', ...statusEvent })).toBe('not_found')
    expect(await charlie.refusal(deliver, { id: 'alpha', from: 'charlie', ...buildMail(1) })).toBe('not_found')
    expect(await (await world().as('alpha')).refusal(deliver, { id: 'charlie', from: 'alpha', ...buildMail(1) })).toBe(
      'not_found',
    )
  })
})

test('two coalitions on one hub know nothing of each other', async () => {
  const [alpha, foreign] = [await world().as('alpha'), await world().as('foreign')]
  expect((await foreign.ok(list, {})).items.map(({ id }) => id)).toEqual(['foreign'])
  expect(await foreign.refusal(get, { id: 'alpha' })).toBe('not_found')
  expect(await foreign.refusal(deliver, { id: 'alpha', from: 'foreign', ...buildMail(1) })).toBe('not_found')
  expect(await alpha.refusal(deliver, { id: 'foreign', from: 'alpha', ...buildMail(1) })).toBe('not_found')
})
