// A peer that proposes an exchange of keys and then sends invalid messages: refused at once, or the end of the exchange.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { curve25519Blinding } from '../../../adapters/blinding/curve25519/blinding.ts'
import { performBlinding } from '../../../adapters/blinding/curve25519/perform-blinding.ts'
import { agree } from '../../../daemon/roles/resolution/exchange/agree.ts'
import {
  computeAgreementDigest,
  type ExchangeAgreement,
} from '../../../daemon/roles/resolution/exchange/agreement/agreement.ts'
import { cancelExchange } from '../../../daemon/roles/resolution/exchange/cancel.ts'
import { get } from '../../../daemon/roles/resolution/exchange/get.ts'
import { receive } from '../../../daemon/roles/resolution/exchange/receive.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import { sortPoints } from '../../../daemon/roles/resolution/privacy/psi/points.ts'
import { originId } from '../../../daemon/shared/origin-id/origin-id.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { startTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'
import { createPeerSite, sharedClassification, sharedLabel } from '../consensus/peer-site.ts'
import { buildAgreement } from './exchange-fixture.ts'
import { buildPeople, buildPersonLens } from './resolution-site.ts'

const bravo = await createPeerSite('bravo', 'tenant-b')
const charlie = await createPeerSite('charlie', 'tenant-c')
let world: TestSite
let ann: CheckedClient
let carrier: CheckedClient

beforeAll(async () => {
  const profile = {
    platform: { roles: ['site', 'resolution'] },
    resolution: { port: 0, peer_exchanges_per_day: 1_000 },
  }
  world = await startTestSite({ profile, peers: [bravo.pinned, charlie.pinned] })
  ann = await world.as()
  carrier = await world.as({ subject: 'role:site', roles: ['service'], tenant: '*' })
  await ann.ok(create, { body: buildPersonLens('1.0.0'), classification: sharedClassification })
})
afterAll(async () => {
  await world?.end()
  for (const peer of [bravo, charlie]) peer.remove()
  expect(world?.loggedErrors ?? []).toEqual([])
})

async function deliverFromPeer(data: Record<string, unknown>, peer = bravo) {
  return await carrier.refusal(receive, await peer.message('resolution', data))
}

const buildProposal = (agreement: ExchangeAgreement, size = 3) => ({
  say: 'proposal',
  agreement,
  classification: sharedLabel,
  size,
})

/** Proposed by bravo and agreed to by ann, with five people. */
async function beginExchange(size = 3, more: Partial<ExchangeAgreement> = {}): Promise<ExchangeAgreement> {
  const agreement = buildAgreement(more)
  expect(await deliverFromPeer(buildProposal(agreement, size))).toBe(200)
  await ann.ok(agree, { uid: agreement.exchange_id, data: buildPeople(0, 5) })
  return agreement
}

const referToAgreement = (agreement: ExchangeAgreement) => ({
  exchange_id: agreement.exchange_id,
  agreement_digest: computeAgreementDigest(agreement),
})

function buildPoints(agreement: ExchangeAgreement, bytes: Uint8Array, more: Record<string, unknown> = {}) {
  const data = Buffer.from(bytes).toString('base64url')
  return {
    say: 'piece',
    ...referToAgreement(agreement),
    round: 'points',
    number: 0,
    of: 1,
    items: bytes.length / 32,
    data,
    ...more,
  }
}

const blinding = curve25519Blinding(async (work) => performBlinding(work), 1)
const goodPoints = sortPoints(
  await blinding.blindValues('another run', ['a', 'b', 'c'], new Uint8Array(32).fill(9), new AbortController().signal),
  32,
).sorted

const waitForFailure = (uid: string) =>
  waitUntil(async () => {
    const { state, failure } = await ann.ok(get, { uid })
    return state === 'failed' && failure?.reason
  })

test.each([
  ['fewer points than announced', { data: Buffer.from(goodPoints.subarray(0, 64)).toString('base64url'), items: 2 }],
  [
    'more points than announced',
    { items: 4, data: Buffer.concat([goodPoints, goodPoints.subarray(0, 32)]).toString('base64url') },
  ],
  ['half a point', { data: Buffer.from(goodPoints.subarray(0, 80)).toString('base64url') }],
  ['another number of pieces', { of: 2 }],
  ['a piece beyond the last', { number: 1 }],
  ['rows in place of points', { data: undefined, rows: [['id', 'a', 'b']] }],
  ['text that is written in two ways', { data: `${Buffer.from(goodPoints).toString('base64url')}A` }],
  ['unrequested tags', { round: 'places' }],
  ['records that nobody agreed to', { round: 'records', data: undefined, rows: [['id', 'a', 'b']] }],
  ['more than a message holds', { data: 'A'.repeat(2_800_001) }],
])('%s: refused, and the exchange goes on', async (_, wrong) => {
  const agreement = await beginExchange()
  expect(await deliverFromPeer(buildPoints(agreement, goodPoints, wrong))).toBe('invalid')
  expect(await ann.ok(get, { uid: agreement.exchange_id })).toMatchObject({ state: 'running' })
  expect(await deliverFromPeer(buildPoints(agreement, goodPoints))).toBe(200)
  // Of each peer one exchange is worked on at a time.
  await ann.ok(cancelExchange, { uid: agreement.exchange_id })
})

test.each([
  ['a point of low order', Buffer.concat([new Uint8Array(32), goodPoints.subarray(0, 64)]), 'low order'],
  [
    'a point that is none',
    Buffer.concat([goodPoints.subarray(0, 64), new Uint8Array(32).fill(0xff)]),
    'is not a point',
  ],
  [
    'a point twice',
    Buffer.concat([goodPoints.subarray(0, 32), goodPoints.subarray(0, 32), goodPoints.subarray(32, 64)]),
    'not above',
  ],
  [
    'points in the order of its records',
    Buffer.concat([goodPoints.subarray(64), goodPoints.subarray(0, 64)]),
    'not above',
  ],
])('%s: the exchange is over, and says why', async (_, bytes, why) => {
  const agreement = await beginExchange()
  expect(await deliverFromPeer(buildPoints(agreement, bytes))).toBe(200)
  expect(await waitForFailure(agreement.exchange_id)).toContain(why)
})

test('a message that comes twice is one, and another in its place is refused', async () => {
  const agreement = await beginExchange()
  expect(await deliverFromPeer(buildPoints(agreement, goodPoints))).toBe(200)
  expect(await deliverFromPeer(buildPoints(agreement, goodPoints))).toBe(200)
  const other = Buffer.from(goodPoints)
  other[0] = (other[0] ?? 0) ^ 1
  expect(await deliverFromPeer(buildPoints(agreement, other))).toBe('already_exists')
  expect(await deliverFromPeer(buildProposal(agreement))).toBe(200)
})

test('a message of another run, agreement or peer counts for nothing here', async () => {
  const [one, other] = [await beginExchange(), await beginExchange()]
  const wrongDigest = { ...buildPoints(one, goodPoints), agreement_digest: computeAgreementDigest(other) }
  expect(await deliverFromPeer(wrongDigest)).toBe('not_found')
  expect(await deliverFromPeer(buildPoints(one, goodPoints), charlie)).toBe('not_found')
  expect(
    await deliverFromPeer({ say: 'ended', ...referToAgreement(one), code: 'cancelled', reason: 'by me' }, charlie),
  ).toBe('not_found')
  expect(await deliverFromPeer(buildPoints(buildAgreement(), goodPoints))).toBe('not_found')
})

test('nothing is taken of a peer before somebody has agreed', async () => {
  const agreement = buildAgreement()
  expect(await deliverFromPeer(buildProposal(agreement))).toBe(200)
  expect(await deliverFromPeer(buildPoints(agreement, goodPoints))).toBe('invalid')
  expect(await ann.ok(get, { uid: agreement.exchange_id })).toMatchObject({ state: 'proposed', part: 'asked' })
})

test.each([
  ['for others to see', { parties: ['charlie', 'alpha'] as const }],
  ['for sites without this one', { parties: ['bravo', 'charlie'] as const }],
  ['with somebody who learns and has no part', { learns: ['charlie'] }],
  ['under an id of this site', { exchange_id: originId('xchg', 'alpha', 'a'.repeat(24)) }],
  ['under an id of a third site', { exchange_id: originId('xchg', 'charlie', 'a'.repeat(24)) }],
  ['by vectors with nobody to compare', { privacy: 'clk' as const }],
  ['by vectors with a party that compares, the risk not accepted', { privacy: 'clk' as const, linker: 'bravo' }],
])('a proposal %s is refused', async (_, wrong) => {
  const more = wrong as Partial<ExchangeAgreement>
  expect(await deliverFromPeer(buildProposal(buildAgreement(more)))).toBe('invalid')
})

test('a proposal of more than its own agreement allows is refused, and so is one under an id that is taken', async () => {
  expect(await deliverFromPeer(buildProposal(buildAgreement({ max_set_size: 2 })))).toBe('invalid')
  const agreement = buildAgreement()
  expect(await deliverFromPeer(buildProposal(agreement))).toBe(200)
  expect(await deliverFromPeer(buildProposal({ ...agreement, max_set_size: 50 }))).toBe('already_exists')
})

test('a peer that normalises texts in another form is not agreed to, since equal records would have different keys', async () => {
  const { text_form, ...agreement } = buildAgreement()
  expect(text_form).toBe(2)
  for (const [at, form] of [undefined, 1, 3].entries()) {
    const exchange_id = `xchg_${String(at).padStart(32, 'f')}`
    const other = { ...agreement, exchange_id, ...(form ? { text_form: form } : {}) }
    expect(await deliverFromPeer(buildProposal(other))).toBe(200)
    expect(await ann.refusal(agree, { uid: exchange_id, data: buildPeople(0, 5) })).toBe('invalid')
  }
})

test('a lens that says something else at the peer is not agreed to', async () => {
  const agreement = buildAgreement({ lens_digest: '0'.repeat(64) })
  expect(await deliverFromPeer(buildProposal(agreement))).toBe(200)
  expect(await ann.refusal(agree, { uid: agreement.exchange_id, data: buildPeople(0, 5) })).toBe('invalid')
})
