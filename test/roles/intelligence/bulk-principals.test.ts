// A bulk disposition acts for the person who requested it, with the rights of now, and reports what was done all the same.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { collection } from '../../../daemon/kernel/store/store.ts'
import { cancel } from '../../../daemon/roles/intelligence/bulk/cancel.ts'
import { create } from '../../../daemon/roles/intelligence/bulk/create.ts'
import { get as getBulk } from '../../../daemon/roles/intelligence/bulk/get.ts'
import { list as listBulks } from '../../../daemon/roles/intelligence/bulk/list.ts'
import { bulks, type StoredBulk } from '../../../daemon/roles/intelligence/bulk/model.ts'
import { get } from '../../../daemon/roles/intelligence/signal/get.ts'
import { merge } from '../../../daemon/roles/intelligence/signal/merge.ts'
import { revoke } from '../../../daemon/roles/site/token/revoke.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { readAuditEvents } from '../../support/site/read-audit-events.ts'
import { restartWith } from '../../support/site/restart-with.ts'
import { listUselessGrants, replacePrincipal as replaceStored } from '../../support/site/stored-principals.ts'
import { holdBulk, readBulk, releaseBulk, rewindBulk, waitUntilOver } from './held-bulk.ts'
import { raiseSignal, setUpIntelligenceSite } from './intelligence-site.ts'

const world = setUpIntelligenceSite()
const decision = { disposition: 'dismissed' as const, rationale: 'a storm' }
const revokedFailure = {
  code: 'forbidden',
  reason: 'the principal of the stored work was revoked, or the token with which it was stored',
}

const readStatus = async (person: CheckedClient, uid: string) => (await person.ok(get, { uid })).status

async function listEvents(uid: string) {
  const events = await readAuditEvents(world(), 'intelligence')
  return events.filter(({ target, detail }) => target === uid || detail.bulk === uid)
}

/** One that a process left in its second batch: a signal is reported, one is changed but not reported, one is left. */
async function holdInterruptedBulk(person: CheckedClient) {
  const [reported, changed, left] = [await raiseSignal(person), await raiseSignal(person), await raiseSignal(person)]
  const { uid } = await person.ok(create, { signal_ids: [reported, changed], ...decision })
  await waitUntilOver(person, uid)
  const items = [{ signal_id: reported, outcome: 'done' as const }, { signal_id: changed }, { signal_id: left }]
  await rewindBulk(world(), person, uid)
  await world()
    .store('intelligence')
    .update(bulks, uid, ({ value }) => ({ next: { ...value, items }, answer: undefined }))
  return { uid, left, items }
}

test.each(['subject', 'token'] as const)(
  'the work of a revoked %s ends with the reason and reports what was done, and that of others goes on',
  async (revoked) => {
    const other = await world().as({ subject: 'other' })
    const person = await world().as({ subject: `ann-${revoked}` })
    const admin = await world().as({ subject: 'admin', roles: ['admin'] })
    const { uid, left } = await holdInterruptedBulk(person)
    const { jti } = JSON.parse(Buffer.from(person.token.split('.')[1] ?? '', 'base64url').toString())
    const target = revoked === 'token' ? { jti } : { subject: `ann-${revoked}` }
    await admin.ok(revoke, { ...target, reason: 'left the service' })
    await releaseBulk(world(), uid)
    const ended = await waitUntilOver(other, uid)
    expect(ended).toMatchObject({ state: 'cancelled', failure: revokedFailure, done: 2, refused: 0, cancelled: 1 })
    expect(ended.items?.map(({ outcome }) => outcome)).toEqual(['done', 'done', 'cancelled'])
    expect([ended.cancelled_by, await readStatus(other, left)]).toEqual([undefined, 'new'])
    const last = (await listEvents(uid)).at(-1)
    expect(last).toMatchObject({ action: 'intelligence.bulk.failed', detail: { failure: revokedFailure } })
    const behind = await other.ok(create, { signal_ids: [left], ...decision })
    expect(await waitUntilOver(other, behind.uid)).toMatchObject({ state: 'finished', done: 1 })
  },
)

const replacePrincipal = (id: string, changes: Parameters<typeof replaceStored>[3]) =>
  replaceStored(world(), 'intelligence', { collection: bulks, id }, changes)

describe('a bulk disposition ends whose grant', () => {
  const grants = listUselessGrants(world, 'intelligence', 'intelligence:review')
  test.each(grants)('%s', async (_, change, reason) => {
    const bob = await world().as({ subject: 'bob' })
    const secret = await raiseSignal(bob, { classification: 'SECRET' })
    const { uid } = await bob.ok(create, { signal_ids: [secret], ...decision })
    await waitUntilOver(bob, uid)
    const left = await raiseSignal(bob, { classification: 'SECRET' })
    await rewindBulk(world(), bob, uid)
    await world()
      .store('intelligence')
      .update(bulks, uid, ({ value }) => ({ next: { ...value, items: [{ signal_id: left }] }, answer: undefined }))
    await replacePrincipal(uid, await change({ collection: bulks.name, id: uid }))
    await releaseBulk(world(), uid)
    expect(await waitUntilOver(bob, uid)).toMatchObject({
      ...{ state: 'cancelled', cancelled: 1 },
      failure: { code: 'forbidden', reason: expect.stringMatching(reason) },
    })
    expect(await readStatus(bob, left)).toBe('new')
  })
})

test('fields beside the grant decide nothing', async () => {
  const cal = await world().as({ subject: 'cal' })
  const signal_id = await raiseSignal(cal)
  const uid = await holdBulk(world(), cal, [signal_id], { created_by: 'olga' })
  await replacePrincipal(uid, { subject: 'olga', tenant_id: '*', roles: ['admin'] })
  await releaseBulk(world(), uid)
  expect(await waitUntilOver(cal, uid)).toMatchObject({ state: 'finished', done: 1 })
  expect((await cal.ok(get, { uid: signal_id })).metadata.status_history).toMatchObject([{ by: 'cal', bulk: uid }])
})

test('its changes are of the person, with the role as actor', async () => {
  const dee = await world().as({ subject: 'dee' })
  const { uid } = await dee.ok(create, { signal_ids: [await raiseSignal(dee)], ...decision })
  await waitUntilOver(dee, uid)
  expect((await listEvents(uid)).map(({ action, subject, actor }) => [action, subject, actor])).toEqual([
    ['intelligence.bulk.create', 'dee', undefined],
    ['intelligence.bulk.dispose', 'dee', 'role:intelligence'],
  ])
})

describe('a signal that was raised above the person', () => {
  /** The signal, once it represents one that the person may not see. */
  async function raiseAbove(low: CheckedClient, signal_id: string): Promise<void> {
    const ann = await world().as()
    const secret = await raiseSignal(ann, { classification: 'SECRET' })
    await ann.ok(merge, { uid: signal_id, signal_ids: [secret], rationale: 'one and the same' })
    expect(await low.refusal(get, { uid: signal_id })).toBe('not_found')
  }
  const openLow = () => world().as({ subject: 'lou', clearance: { level: 'UNCLASSIFIED' } })

  test('stays as it is, and is as one that does not exist', async () => {
    const low = await openLow()
    const [raised, plain] = [
      await raiseSignal(low, { classification: 'UNCLASSIFIED' }),
      await raiseSignal(low, { classification: 'UNCLASSIFIED' }),
    ]
    const uid = await holdBulk(world(), low, [raised, plain])
    await raiseAbove(low, raised)
    await releaseBulk(world(), uid)
    expect((await waitUntilOver(low, uid)).items).toEqual([
      { signal_id: raised, outcome: 'refused', reason: 'there is no such signal' },
      { signal_id: plain, outcome: 'done' },
    ])
    expect(await readStatus(await world().as(), raised)).toBe('new')
  })

  test('is reported as done if it was changed before a crash', async () => {
    const low = await openLow()
    const signal_id = await raiseSignal(low, { classification: 'UNCLASSIFIED' })
    const input = { signal_ids: [signal_id], disposition: 'acknowledged' as const, rationale: 'seen' }
    const { uid } = await low.ok(create, input)
    await waitUntilOver(low, uid)
    await rewindBulk(world(), low, uid)
    await raiseAbove(low, signal_id)
    await releaseBulk(world(), uid)
    expect((await waitUntilOver(low, uid)).items).toEqual([{ signal_id, outcome: 'done' }])
  })
})

test('a signal of another tenant is as one that does not exist', async () => {
  const gus = await world().as({ subject: 'gus' })
  const foreign = await raiseSignal(await world().as({ tenant: 'tenant-b' }))
  const { uid } = await gus.ok(create, { signal_ids: [foreign], ...decision })
  expect((await waitUntilOver(gus, uid)).items).toEqual([
    { signal_id: foreign, outcome: 'refused', reason: 'there is no such signal' },
  ])
})

test('a request that changes nothing requests no grant', async () => {
  const flo = await world().as({ subject: 'flo' })
  const input = { signal_ids: [await raiseSignal(flo)], ...decision }
  const { uid } = await flo.ok(create, input, { 'idempotency-key': 'once' })
  await waitUntilOver(flo, uid)
  await flo.ok(create, input, { 'idempotency-key': 'once' })
  await flo.refusal(create, { ...input, expect: 7 })
  await flo.ok(create, { filter: { subject_id: 'nothing' }, ...decision })
  const grants = (await readAuditEvents(world(), 'site')).filter(
    ({ action, target }) => action === 'site.delegation.grant' && target === 'flo',
  )
  expect(grants).toHaveLength(1)
})

test('no answer shows the stored principal', async () => {
  const eve = await world().as({ subject: 'eve' })
  const uid = await holdBulk(world(), eve, [await raiseSignal(eve)])
  const { grant } = (await readBulk(world(), uid)).job.principal ?? {}
  expect(grant).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
  const shown = [JSON.stringify(await eve.ok(listBulks, {}))]
  await releaseBulk(world(), uid)
  shown.push(JSON.stringify([await waitUntilOver(eve, uid), await eve.ok(listBulks, {})]))
  for (const text of shown) {
    expect(text).not.toContain(grant)
    expect(text).not.toContain('"job')
  }
  expect((await readBulk(world(), uid)).job.principal).toEqual({
    ...{ subject: 'eve', tenant_id: 'tenant-a', roles: ['analyst'] },
    clearance: expect.anything(),
  })
})

describe('one that an earlier version stored', () => {
  const earlierBulks = collection({ name: 'bulk', schema: z.looseObject({ tenant_id: z.string() }), indexes: [] })

  /** As it lies in the store, without a job. */
  async function storeEarlier(person: CheckedClient, fields: object): Promise<string> {
    const { uid, items } = await holdInterruptedBulk(person)
    const { job: _job, job_due_ts: _due, ...value } = await readBulk(world(), uid)
    const id = `${uid.slice(0, -4)}0dd0`
    const clearance = { level: 'TOP_SECRET', categories: [] }
    await world()
      .store('intelligence')
      .create(earlierBulks, id, { ...value, items, clearance, ...fields })
    return id
  }

  test('is shown as it was, and ends with the reason if it was open', async () => {
    const hal = await world().as({ subject: 'hal' })
    const finished_at = '2026-03-02T11:00:00.000Z'
    const over = await storeEarlier(hal, { owes: 0, state: 'finished', finished_at })
    expect(await hal.ok(getBulk, { uid: over })).toMatchObject({ state: 'finished', finished_at })
    const open = await storeEarlier(hal, { owes: 1, state: 'running' })
    expect(await hal.ok(getBulk, { uid: open })).toMatchObject({ state: 'running', done: 1 })
    world().wakeWorker('intelligence', 'earlier-bulks')
    const ended = await waitUntilOver(hal, open)
    expect(ended).toMatchObject({ state: 'cancelled', done: 1, cancelled: 2, failure: { code: 'ended' } })
    expect(ended.failure?.reason).toContain('start it again')
    expect((await listEvents(open)).map(({ action }) => action)).toEqual(['intelligence.bulk.settled'])
    expect(await hal.ok(getBulk, { uid: over })).toMatchObject({ state: 'finished', finished_at })
  })

  test('can be cancelled', async () => {
    const ida = await world().as({ subject: 'ida' })
    const uid = await storeEarlier(ida, { owes: 1, state: 'running' })
    await ida.ok(cancel, { uid })
    const ended = await waitUntilOver(ida, uid)
    expect(ended).toMatchObject({ state: 'cancelled', cancelled_by: 'ida', done: 1, cancelled: 2 })
    expect(ended).not.toHaveProperty('failure')
  })
})

describe('a client of the site', () => {
  const nameClient = (fields: Readonly<Record<string, unknown>> | undefined) => {
    const secret_file = path.join(world().folder.data, 'client.secret')
    writeFileSync(secret_file, 'a-secret-of-more-than-sixteen-characters', { mode: 0o600 })
    return { identity: { clients: fields ? [{ client_id: 'soar', roles: ['analyst'], secret_file, ...fields }] : [] } }
  }
  const secret = { level: 'SECRET' }

  /** The end of one that was under way while the profile changed. */
  async function runClient(changed: Readonly<Record<string, unknown>> | undefined): Promise<StoredBulk> {
    await restartWith(world(), nameClient({ clearance: secret }))
    const client = await world().as({ subject: 'soar', clearance: secret })
    const [first, second] = [
      await raiseSignal(client, { classification: 'SECRET' }),
      await raiseSignal(client, { classification: 'SECRET' }),
    ]
    const { uid } = await client.ok(create, { signal_ids: [first, second], ...decision })
    await waitUntilOver(client, uid)
    await rewindBulk(world(), client, uid)
    await restartWith(world(), nameClient(changed))
    await releaseBulk(world(), uid)
    await waitUntilOver(await world().as(), uid)
    return await readBulk(world(), uid)
  }
  const bothDone = [{ outcome: 'done' }, { outcome: 'done' }]

  test('whose clearance was lowered below it changes nothing more', async () => {
    expect(await runClient({ clearance: { level: 'UNCLASSIFIED' } })).toMatchObject({
      ...{ state: 'cancelled', items: bothDone },
      failure: { code: 'forbidden', reason: 'soar may no longer see what this job works on' },
    })
  })

  test('that the profile does not name any more changes nothing more', async () => {
    expect(await runClient(undefined)).toMatchObject({
      ...{ state: 'cancelled', items: bothDone },
      failure: { code: 'forbidden', reason: 'the client soar is not in the profile of the site any more' },
    })
  })

  test('that keeps its rights goes on', async () => {
    expect(await runClient({ clearance: secret })).toMatchObject({ state: 'finished', items: bothDone })
  })
})
