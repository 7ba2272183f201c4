// Which callers may contribute in which name; tenants of one site see nothing of each other.
import { describe, expect, test } from 'vitest'
import { auditRecord } from '../../../daemon/kernel/audit/audit-chain.ts'
import { list as recordOf } from '../../../daemon/roles/consensus/contribution/list.ts'
import { attest } from '../../../daemon/roles/consensus/session/attest.ts'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create } from '../../../daemon/roles/consensus/session/create.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { list } from '../../../daemon/roles/consensus/session/list.ts'
import { resolve } from '../../../daemon/roles/consensus/session/resolve.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import {
  buildOpinionInput,
  buildSessionInput,
  createOperator,
  openSession,
  setUpConsensusSite,
} from './consensus-site.ts'

const world = setUpConsensusSite(() => ({
  template: 'multi-tenant-cloud',
  contributors: ['c1'],
  consensus: {
    contributors: {
      bob: { signer_keys: ['bob-1', 'bob-2'] },
      bound: { signer_keys: ['bound-1'], spoken_for_by: ['ann'], tenant_id: 'tenant-b' },
    },
  },
}))

describe('a contribution', () => {
  test.each([
    { title: 'as oneself', subject: 'bob', body: buildOpinionInput('bob', 0.5), code: 200 },
    {
      title: 'as oneself with the second key',
      subject: 'bob',
      body: { ...buildOpinionInput('bob', 0.5), signer_key_id: 'bob-2' },
      code: 200,
    },
    { title: 'for someone whom one speaks for', subject: 'ann', body: buildOpinionInput('c1', 0.5), code: 200 },
    {
      title: 'for someone whom one does not speak for',
      subject: 'ann',
      body: buildOpinionInput('bob', 0.5),
      code: 'not_contributor',
    },
    {
      title: 'with a key of somebody else',
      subject: 'bob',
      body: { ...buildOpinionInput('bob', 0.5), signer_key_id: 'c1-1' },
      code: 'not_contributor',
    },
    { title: 'as oneself, not enrolled', subject: 'eve', body: buildOpinionInput('eve', 0.5), code: 'not_contributor' },
    { title: 'as nobody at all', subject: 'ann', body: buildOpinionInput('nobody', 0.5), code: 'not_contributor' },
    {
      title: 'under a name of the prototype',
      subject: 'ann',
      body: buildOpinionInput('constructor', 0.5),
      code: 'not_contributor',
    },
    {
      title: 'as one bound to another tenant',
      subject: 'ann',
      body: buildOpinionInput('bound', 0.5),
      code: 'not_contributor',
    },
    {
      title: 'as one bound to this tenant',
      subject: 'ann',
      tenant: 'tenant-b',
      body: buildOpinionInput('bound', 0.5),
      code: 200,
    },
  ])('$title: $code', async ({ subject, tenant = 'tenant-a', body, code }) => {
    const person = await world().as({ subject, tenant })
    const { id } = await openSession(person, { m: 2, n: 3 })
    expect(await person.refusal(contribute, { id, ...body })).toBe(code)
    expect((await person.ok(get, { id })).contributions).toBe(code === 200 ? 1 : 0)
  })

  test('is refused in the same words for every cause, so that nobody can probe the enrolment', async () => {
    const person = await world().as()
    const { id } = await openSession(person, { m: 2, n: 3 })
    const wrong = [
      buildOpinionInput('bob', 0.5),
      buildOpinionInput('nobody', 0.5),
      { ...buildOpinionInput('c1', 0.5), signer_key_id: 'x' },
    ]
    const details = []
    for (const body of wrong) details.push((await person.call(contribute, { id, ...body })).problem?.detail)
    expect(new Set(details).size).toBe(1)
  })

  test('by one who is enrolled but not named by the policy is refused as well', async () => {
    const person = await createOperator(world())
    const { id } = await openSession(person, { m: 1, n: 1, contributors: ['bob'] })
    expect(await person.refusal(contribute, { id, ...buildOpinionInput('c1', 1) })).toBe('not_contributor')
  })
})

describe('another tenant', () => {
  test('sees nothing, changes nothing, and its attempts are on record', async () => {
    const [here, there] = [
      await createOperator(world()),
      await world().as({ subject: 'olga', roles: ['operator'], tenant: 'tenant-b' }),
    ]
    const { id, version } = await openSession(here, { m: 2, n: 3 })
    expect(await there.refusal(get, { id })).toBe('not_found')
    expect(await there.refusal(recordOf, { id })).toBe('not_found')
    expect((await there.ok(list, { limit: 500 })).items.some((item) => item.id === id)).toBe(false)
    expect(await there.refusal(contribute, { id, ...buildOpinionInput('c1', 1) })).toBe('not_your_tenant')
    expect(await there.refusal(resolve, { id })).toBe('not_your_tenant')
    expect(await there.refusal(cancel, { id })).toBe('not_your_tenant')
    expect(await there.refusal(attest, { id, decision: 'match', rationale: 'mine' })).toBe('not_your_tenant')
    expect(await here.ok(get, { id })).toMatchObject({ version, state: 'PROPOSED', contributions: 0 })
    const refused = await listAuditRecords(there.token, id)
    expect(refused.map((event) => [event?.outcome, event?.tenant_id, event?.detail.code])).toEqual(
      Array.from({ length: 4 }, () => ['refused', 'tenant-b', 'not_your_tenant']),
    )
  })

  test('invites no peer, since peers answer the tenant of the site alone', async () => {
    const there = await world().as({ tenant: 'tenant-b' })
    const invitation = { ...buildSessionInput({ m: 1, n: 2 }), invite: ['bravo'] }
    const { problem } = await there.call(create, invitation)
    expect(problem).toMatchObject({ code: 'not_your_tenant', detail: expect.stringContaining('tenant-a') })
    expect(await there.refusal(create, { ...invitation, invite: [] })).toBe(201)
  })

  test('cannot contribute under a name that is bound to it in a session of this one', async () => {
    const here = await createOperator(world())
    const there = await world().as({ tenant: 'tenant-b' })
    const { id } = await openSession(here, { m: 1, n: 1 })
    expect(await there.refusal(contribute, { id, ...buildOpinionInput('bound', 1) })).toBe('not_your_tenant')
  })
})

test('the life of a session is on record for its tenant, what the site’s own hand did included', async () => {
  const person = await createOperator(world())
  const { id } = await openSession(person, { m: 1, n: 2, deadline: world().clock.in(1_000) })
  world().clock.advance(1_000)
  world().wakeWorker('consensus', 'deadlines')
  await waitUntil(async () => (await person.ok(get, { id })).state === 'IN_CONFLICT')
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 1) })
  await person.ok(cancel, { id })
  const events = await listAuditRecords(person.token, id)
  expect(events.map((event) => [event?.action, event?.subject, event?.tenant_id])).toEqual([
    ['consensus.session.cancel', 'olga', 'tenant-a'],
    ['consensus.session.contribute', 'olga', 'tenant-a'],
    ['consensus.session.deadline', 'role:consensus', 'tenant-a'],
    ['consensus.session.create', 'olga', 'tenant-a'],
  ])
})

async function listAuditRecords(token: string, target: string) {
  const { json } = await world().call('consensus', 'GET', `/api/v2/audit?target=${target}`, undefined, { token })
  return (json as { items: unknown[] }).items.map((item) => auditRecord.parse(item).event)
}
