// An exchange ends by itself, in spite of the peer, and then none of its stored data remains.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { leaveToSite } from '../../../daemon/kernel/job/rules.ts'
import { agree } from '../../../daemon/roles/resolution/exchange/agree.ts'
import { cancelExchange } from '../../../daemon/roles/resolution/exchange/cancel.ts'
import { get } from '../../../daemon/roles/resolution/exchange/get.ts'
import { exchangePieces, exchanges } from '../../../daemon/roles/resolution/exchange/model.ts'
import { propose } from '../../../daemon/roles/resolution/exchange/propose.ts'
import { status } from '../../../daemon/roles/resolution/fusion-run/status.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import { sharedClassification } from '../consensus/peer-site.ts'
import {
  buildAgreement,
  buildProposal,
  type ExchangeFixture,
  referToAgreement,
  startExchangeFixture,
  waitForExchangeState,
} from './exchange-fixture.ts'
import { buildPeople } from './resolution-site.ts'

let fixture: ExchangeFixture
beforeAll(async () => {
  fixture = await startExchangeFixture({ exchange_idle_hours: 48, exchange_hours: 100 })
})
afterAll(async () => {
  await fixture?.end()
  expect(fixture?.world.loggedErrors ?? []).toEqual([])
})

const hour_ms = 3_600_000
const advanceHours = (hours: number) => {
  fixture.world.clock.advance(hours * hour_ms)
  fixture.world.wakeWorker('resolution', 'files')
}
const proposal = {
  peer: 'bravo',
  lens_id: 'people',
  fields: ['given_name', 'surname'],
  privacy: 'psi' as const,
  learns: ['alpha'],
  max_set_size: 100,
  classification: sharedClassification,
  data: buildPeople(0, 5),
}

/** Agreed to by ann, and gone as far as it goes without another word of the peer. */
async function beginExchange() {
  const agreement = buildAgreement()
  expect(await fixture.say(fixture.bravo, buildProposal(agreement))).toBe(200)
  await (await fixture.ann()).ok(agree, { uid: agreement.exchange_id, data: buildPeople(0, 5) })
  await waitUntil(async () => {
    const { step, job_due_ts } = await fixture.stored(agreement.exchange_id)
    return step === 1 && job_due_ts === undefined
  })
  return agreement
}

test('a peer that falls silent: after the idle time it has failed, and secret, records and points are gone', async () => {
  const { exchange_id: uid } = await beginExchange()
  expect(await fixture.stored(uid)).toMatchObject({ secret: { key: expect.stringMatching(/^dk_/) } })
  expect(await fixture.pieces(uid)).toBeGreaterThan(1)
  advanceHours(47.9)
  expect(await fixture.stored(uid)).toMatchObject({ state: 'running' })
  advanceHours(0.2)
  const over = await waitForExchangeState(fixture, uid, 'failed')
  expect(over.failure).toEqual({ code: 'expired', reason: 'the exchange made no progress for 48 hours' })
  expect(over).not.toHaveProperty('secret')
  expect(over.keys).toEqual({})
  expect(await fixture.pieces(uid)).toBe(0)
  const ann = await fixture.ann()
  expect(await ann.ok(status, { run_id: uid.replace('xchg_', 'run_') })).toMatchObject({ state: 'failed' })
})

test('nobody answers a proposal, of a peer or of this site: it fails in the same time', async () => {
  const agreement = buildAgreement()
  expect(await fixture.say(fixture.bravo, buildProposal(agreement))).toBe(200)
  const { uid } = await (await fixture.ann()).ok(propose, proposal)
  expect(await fixture.pieces(uid)).toBe(1)
  advanceHours(48.1)
  for (const id of [uid, agreement.exchange_id]) {
    expect((await waitForExchangeState(fixture, id, 'failed')).failure?.code).toBe('expired')
    expect(await fixture.pieces(id)).toBe(0)
  }
  expect(await (await fixture.ann()).refusal(agree, { uid: agreement.exchange_id, data: buildPeople(0, 5) })).toBe(
    'wrong_state',
  )
})

test('a piece before the acceptance of its sender is refused for good; behind it, it is stored', async () => {
  const { uid } = await (await fixture.ann()).ok(propose, proposal)
  const { agreement } = await waitUntil(async () => {
    const value = await fixture.stored(uid)
    return value.told?.includes('bravo') && value.job_due_ts === undefined && value
  })
  const points = { say: 'piece', ...referToAgreement(agreement), round: 'points', number: 0, of: 1, items: 3 }
  const piece = { ...points, data: Buffer.alloc(96).toString('base64url') }
  expect(await fixture.say(fixture.bravo, piece)).toBe('invalid')
  expect(await fixture.stored(uid)).toMatchObject({ state: 'proposed', agreed: [] })
  expect(await fixture.say(fixture.bravo, { say: 'agreed', ...referToAgreement(agreement), size: 3 })).toBe(200)
  expect(await fixture.say(fixture.bravo, piece)).toBe(200)
  expect(await fixture.stored(uid)).toMatchObject({ coming: { 'bravo.points': { of: 1, items: 3 } } })
})

test('a proposal that arrives several times at once is one', async () => {
  const agreement = buildAgreement()
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => fixture.say(fixture.bravo, buildProposal(agreement))),
  )
  expect(answers).toEqual([200, 200, 200, 200])
})

test('a repeated message that was here before is not progress', async () => {
  const agreement = await beginExchange()
  const points = { say: 'piece', ...referToAgreement(agreement), round: 'points', number: 0, of: 1, items: 3 }
  const data = Buffer.alloc(96, 1).toString('base64url')
  expect(await fixture.say(fixture.bravo, buildProposal(agreement))).toBe(200)
  advanceHours(40)
  expect(await fixture.say(fixture.bravo, buildProposal(agreement))).toBe(200)
  advanceHours(8.1)
  expect((await waitForExchangeState(fixture, agreement.exchange_id, 'failed')).failure?.code).toBe('expired')
  // Later messages have no receiver.
  expect(await fixture.say(fixture.bravo, { ...points, data })).toBe(200)
  expect(await fixture.pieces(agreement.exchange_id)).toBe(0)
})

test('a repeat of a request that died after its exchange and before its records brings them', async () => {
  const key = { 'idempotency-key': 'cut-short' }
  const ann = await fixture.ann()
  const { uid } = await ann.ok(propose, proposal, key)
  await waitUntil(async () => (await fixture.stored(uid)).job_due_ts === undefined)
  await removeRecords(uid)
  expect(await ann.ok(propose, proposal, key)).toMatchObject({ uid, state: 'proposed', sizes: { alpha: 5 } })
  expect(await fixture.stored(uid)).toMatchObject({ own: expect.stringMatching(/^own\./) })
  expect(await fixture.pieces(uid)).toBe(1)
  expect(await ann.refusal(propose, { ...proposal, seed: 2 }, key)).toBe('idempotency_mismatch')
  await ann.ok(cancelExchange, { uid })
})

test('without a repeat it ends after an hour, with its stored records, and no site is notified', async () => {
  const { uid } = await (await fixture.ann()).ok(propose, proposal)
  await waitUntil(async () => (await fixture.stored(uid)).job_due_ts === undefined)
  await removeRecords(uid)
  advanceHours(1)
  expect((await waitForExchangeState(fixture, uid, 'failed')).failure?.code).toBe('cut_short')
  expect(await fixture.pieces(uid)).toBe(0)
})

test('pieces of no exchange, and of one that is over, are swept up', async () => {
  const gone = `xchg_${'e'.repeat(32)}`
  const piece = { tenant_id: 'tenant-a', from: 'alpha', what: 'own', number: 0, of: 1, items: 1, data: '[]' }
  const { uid } = await (await fixture.ann()).ok(propose, proposal)
  await (await fixture.ann()).ok(cancelExchange, { uid })
  await waitForExchangeState(fixture, uid, 'cancelled')
  const store = fixture.world.store('resolution')
  for (const exchange_id of [gone, uid])
    await store.create(exchangePieces, `${exchange_id}.late`, { ...piece, exchange_id })
  fixture.world.wakeWorker('resolution', 'files')
  await waitUntil(async () => (await fixture.pieces(gone)) === 0 && (await fixture.pieces(uid)) === 0)
})

test('a peer that gets no more messages does not keep data stored here', async () => {
  const { exchange_id: uid } = await beginExchange()
  const { ok } = await fixture.ann()
  await ok(cancelExchange, { uid, reason: 'enough' })
  expect(await waitForExchangeState(fixture, uid, 'cancelled')).toMatchObject({ to_tell: [] })
  expect(await fixture.pieces(uid)).toBe(0)
  expect(await ok(get, { uid })).toMatchObject({ state: 'cancelled' })
})

test('a site that cannot be notified of the end keeps no other from it', async () => {
  const { exchange_id: uid } = await beginExchange()
  await (await fixture.ann()).ok(cancelExchange, { uid, reason: 'enough' })
  await waitForExchangeState(fixture, uid, 'cancelled')
  const store = fixture.world.store('resolution')
  // Its enrolment was removed while the exchange ran.
  await store.update(exchanges, uid, ({ value }) => {
    const left = leaveToSite(value, fixture.world.clock.now())
    return { next: { ...left, to_tell: ['removed', 'bravo'] }, answer: undefined }
  })
  fixture.world.wakeWorker('resolution', 'jobs')
  const over = await waitForExchangeState(fixture, uid, 'cancelled')
  expect(over).toMatchObject({ to_tell: [], job: { state: 'cancelled' } })
})

/** As a process leaves it that ended between the exchange and its records. */
async function removeRecords(uid: string): Promise<void> {
  await fixture.world.store('resolution').update(exchanges, uid, ({ value }) => {
    const { own: _own, secret: _secret, ...rest } = value
    return { next: { ...rest, told: [], sizes: {}, keys: {} }, answer: undefined }
  })
}
