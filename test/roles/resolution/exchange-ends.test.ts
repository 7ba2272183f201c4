// An exchange ends by itself, whatever a peer does or leaves undone, and then nothing is left of what was kept for it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agree } from '../../../daemon/roles/resolution/exchange/agree.ts'
import { decline } from '../../../daemon/roles/resolution/exchange/decline.ts'
import { get } from '../../../daemon/roles/resolution/exchange/get.ts'
import { exchangePieces, exchanges } from '../../../daemon/roles/resolution/exchange/model.ts'
import { propose } from '../../../daemon/roles/resolution/exchange/propose.ts'
import { status } from '../../../daemon/roles/resolution/fusion-run/status.ts'
import { until } from '../../support/site-world.ts'
import { shared } from '../consensus/peer-messages.ts'
import { about, agreementOf, type ExchangeWorld, exchangeWorld, proposalOf, settled } from './peer-exchange.ts'
import { peopleOf } from './resolution-world.ts'

let given: ExchangeWorld
beforeAll(async () => {
  given = await exchangeWorld({ exchange_idle_hours: 48, exchange_hours: 100 })
})
afterAll(async () => {
  await given?.end()
  expect(given?.world.faults ?? []).toEqual([])
})

const hour_ms = 3_600_000
const later = (hours: number) => {
  given.world.clock.advance(hours * hour_ms)
  given.world.wake('resolution', 'exchanges')
}
const proposal = {
  peer: 'bravo',
  lens_id: 'people',
  fields: ['given_name', 'surname'],
  privacy: 'psi' as const,
  learns: ['alpha'],
  max_set_size: 100,
  classification: shared,
  data: peopleOf(0, 5),
}

/** Agreed to by ann, and gone as far as it goes without another word of the peer. */
async function underWay() {
  const agreement = agreementOf()
  expect(await given.say(given.bravo, proposalOf(agreement))).toBe(200)
  await (await given.ann()).ok(agree, { uid: agreement.exchange_id, data: peopleOf(0, 5) })
  await until(async () => {
    const { step, owes } = await given.stored(agreement.exchange_id)
    return step === 1 && owes === 0
  })
  return agreement
}

test('a peer that falls silent: after the idle time it has failed, and secret, records and points are gone', async () => {
  const { exchange_id: uid } = await underWay()
  expect(await given.stored(uid)).toMatchObject({ secret: expect.stringMatching(/^[0-9a-f]{64}$/) })
  expect(await given.pieces(uid)).toBeGreaterThan(1)
  later(47.9)
  expect(await given.stored(uid)).toMatchObject({ state: 'running' })
  later(0.2)
  const over = await settled(given, uid, 'failed')
  expect(over.failure).toEqual({ code: 'expired', reason: 'there was no progress for 48 hours' })
  expect(over).not.toHaveProperty('secret')
  expect(over.keys).toEqual({})
  expect(await given.pieces(uid)).toBe(0)
  const ann = await given.ann()
  expect(await ann.ok(status, { run_id: uid.replace('xchg_', 'run_') })).toMatchObject({ state: 'failed' })
})

test('nobody answers a proposal, of a peer or of this site: it fails in the same time', async () => {
  const agreement = agreementOf()
  expect(await given.say(given.bravo, proposalOf(agreement))).toBe(200)
  const { uid } = await (await given.ann()).ok(propose, proposal)
  expect(await given.pieces(uid)).toBe(1)
  later(48.1)
  for (const id of [uid, agreement.exchange_id]) {
    expect((await settled(given, id, 'failed')).failure?.code).toBe('expired')
    expect(await given.pieces(id)).toBe(0)
  }
  expect(await (await given.ann()).refusal(agree, { uid: agreement.exchange_id, data: peopleOf(0, 5) })).toBe(
    'wrong_state',
  )
})

test('what comes again and again, and was here before, is no progress', async () => {
  const agreement = await underWay()
  const points = { say: 'piece', ...about(agreement), round: 'points', number: 0, of: 1, items: 3 }
  const data = Buffer.alloc(96, 1).toString('base64url')
  expect(await given.say(given.bravo, proposalOf(agreement))).toBe(200)
  later(40)
  expect(await given.say(given.bravo, proposalOf(agreement))).toBe(200)
  later(8.1)
  expect((await settled(given, agreement.exchange_id, 'failed')).failure?.code).toBe('expired')
  // What comes now is for nobody.
  expect(await given.say(given.bravo, { ...points, data })).toBe(200)
  expect(await given.pieces(agreement.exchange_id)).toBe(0)
})

test('a repeat of a request that died after its exchange and before its records brings them', async () => {
  const key = { 'idempotency-key': 'cut-short' }
  const ann = await given.ann()
  const { uid } = await ann.ok(propose, proposal, key)
  await until(async () => (await given.stored(uid)).owes === 0)
  await diedBeforeItsRecords(uid)
  expect(await ann.ok(propose, proposal, key)).toMatchObject({ uid, state: 'proposed', sizes: { alpha: 5 } })
  expect(await given.stored(uid)).toMatchObject({ own: expect.stringMatching(/^own\./), owes: expect.any(Number) })
  expect(await given.pieces(uid)).toBe(1)
  expect(await ann.refusal(propose, { ...proposal, seed: 2 }, key)).toBe('idempotency_mismatch')
  await ann.ok(decline, { uid })
})

test('without a repeat it ends after an hour, with the records that it kept, and no site is told', async () => {
  const { uid } = await (await given.ann()).ok(propose, proposal)
  await until(async () => (await given.stored(uid)).owes === 0)
  await diedBeforeItsRecords(uid)
  later(1)
  expect((await settled(given, uid, 'failed')).failure?.code).toBe('cut_short')
  expect(await given.pieces(uid)).toBe(0)
})

test('pieces of no exchange, and of one that is over, are swept up', async () => {
  const gone = `xchg_${'e'.repeat(32)}`
  const piece = { tenant_id: 'tenant-a', from: 'alpha', what: 'own', number: 0, of: 1, items: 1, data: '[]' }
  const { uid } = await (await given.ann()).ok(propose, proposal)
  await (await given.ann()).ok(decline, { uid })
  await settled(given, uid, 'cancelled')
  const store = given.world.store('resolution')
  for (const exchange_id of [gone, uid])
    await store.create(exchangePieces, `${exchange_id}.late`, { ...piece, exchange_id })
  given.world.wake('resolution', 'files')
  await until(async () => (await given.pieces(gone)) === 0 && (await given.pieces(uid)) === 0)
})

test('a peer that is told no more does not keep here what was kept', async () => {
  const { exchange_id: uid } = await underWay()
  const { ok } = await given.ann()
  await ok(decline, { uid, reason: 'enough' })
  expect(await settled(given, uid, 'cancelled')).toMatchObject({ to_tell: [] })
  expect(await given.pieces(uid)).toBe(0)
  expect(await ok(get, { uid })).toMatchObject({ state: 'cancelled' })
})

/** As a process leaves it that ended between the exchange and its records. */
async function diedBeforeItsRecords(uid: string): Promise<void> {
  await given.world.store('resolution').update(exchanges, uid, ({ value }) => {
    const { own: _own, secret: _secret, ...rest } = value
    return { next: { ...rest, told: [], sizes: {}, keys: {} }, answer: undefined }
  })
}
