// Records of a site in an exchange keep its label, and a peer its budget, for any number of agreements at once.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deriveX25519PublicKey } from '../../../daemon/kernel/cryptography/key-agreement.ts'
import { canonicalDigest } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { agree } from '../../../daemon/roles/resolution/exchange/agree.ts'
import {
  computeAgreementDigest,
  type ExchangeAgreement,
} from '../../../daemon/roles/resolution/exchange/agreement/agreement.ts'
import { get } from '../../../daemon/roles/resolution/exchange/get.ts'
import { exchangePieces, exchanges } from '../../../daemon/roles/resolution/exchange/model.ts'
import { receive } from '../../../daemon/roles/resolution/exchange/receive.ts'
import { extract } from '../../../daemon/roles/resolution/fusion/extract.ts'
import { fusionRuns } from '../../../daemon/roles/resolution/fusion-run/model.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import { lens } from '../../../daemon/roles/resolution/lens/model.ts'
import { clkParameters } from '../../../daemon/roles/resolution/privacy/clk/parameters.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { startTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'
import { createPeerSite, sharedClassification, sharedLabel } from '../consensus/peer-site.ts'
import { buildPeople, buildPersonLens } from './resolution-site.ts'

const bravo = await createPeerSite('bravo', 'tenant-b')
const charlie = await createPeerSite('charlie', 'tenant-c')
const echo = await createPeerSite('echo', 'tenant-c')
const delta = await createPeerSite('delta', 'tenant-b')
let world: TestSite
let ann: CheckedClient
let carrier: CheckedClient
const secret = { ...sharedClassification, level: 'SECRET' }

beforeAll(async () => {
  const profile = {
    platform: { roles: ['site', 'resolution'] },
    resolution: { port: 0, peer_exchanges_per_day: 3 },
  }
  world = await startTestSite({ profile, peers: [bravo.pinned, charlie.pinned, delta.pinned, echo.pinned] })
  ann = await world.as({ clearance: { level: 'SECRET' } })
  carrier = await world.as({ subject: 'role:site', roles: ['service'], tenant: '*' })
  await ann.ok(create, { body: buildPersonLens('1.0.0'), classification: sharedClassification })
  await ann.ok(create, { body: buildPersonLens('2.0.0'), classification: secret })
})
afterAll(async () => {
  await world?.end()
  for (const peer of [bravo, charlie, delta, echo]) peer.remove()
  expect(world?.loggedErrors ?? []).toEqual([])
})

let exchangeCount = 0
async function receiveProposal(
  by: typeof bravo,
  more: Partial<ExchangeAgreement> = {},
  classification = sharedLabel,
  changes = {},
) {
  const lens_version = more.lens_version ?? '1.0.0'
  const agreement: ExchangeAgreement = {
    exchange_id: `xchg_${String(++exchangeCount).padStart(32, '0')}`,
    lens: 'people',
    lens_version,
    lens_digest: canonicalDigest(lens.parse(buildPersonLens(lens_version))),
    parties: [by.name, 'alpha'],
    fields: ['given_name', 'surname'],
    privacy: 'psi',
    learns: ['alpha', by.name],
    accept_dictionary_risk: false,
    max_set_size: 100,
    max_set_bytes: 1_000_000,
    seed: 1,
    text_form: 2,
    ...more,
  }
  const content = { say: 'proposal', agreement, classification, size: 3, ...changes }
  const label = { label: classification }
  const answer = await carrier.refusal(receive, await by.message('resolution', content, label))
  return { uid: agreement.exchange_id, agreement, answer }
}

test('records that a lens sees do not leave below its label', async () => {
  const { uid } = await receiveProposal(charlie, { lens_version: '2.0.0' })
  expect(await ann.refusal(agree, { uid, data: buildPeople(0, 5) })).toBe('label_denied')
  expect(await ann.ok(get, { uid })).toMatchObject({ state: 'proposed', agreed: [] })
})

test('a peer has its budget once, by however many it is agreed at once', async () => {
  const uids: string[] = []
  for (let at = 0; at < 6; at++) uids.push((await receiveProposal(bravo)).uid)
  await Promise.all(uids.map((uid) => ann.refusal(agree, { uid, data: buildPeople(0, 5) })))
  expect(await waitUntilSettled(uids)).toEqual(Array.from(uids, (_, at) => (at < 3 ? 'granted' : 'refused')))
})

test('an agreement above a person’s clearance counts when they agree', async () => {
  const ben = await world.as({ clearance: { level: 'UNCLASSIFIED' } })
  const high = { ...sharedLabel, level: 'SECRET' }
  for (let at = 0; at < 3; at++) {
    const { uid } = await receiveProposal(charlie, {}, high)
    await ann.ok(agree, { uid, data: buildPeople(0, 5) })
  }
  const { uid } = await receiveProposal(charlie)
  expect(await ben.refusal(agree, { uid, data: buildPeople(0, 5) })).toBe(200)
  expect(await waitUntilSettled([uid])).toEqual(['refused'])
})

test('an exchange that a peer gives the id of a run of this site gives no access to that run', async () => {
  const { run_id } = await ann.ok(extract, {
    lens_id: 'people',
    lens_version: '1.0.0',
    node_data: { alpha: buildPeople(0, 5), bravo: buildPeople(0, 5) },
  })
  const before = await waitUntil(async () => {
    const doc = await world.store('resolution').get(fusionRuns, run_id)
    return doc?.value.state === 'extracted' && doc.value.job_due_ts === undefined && doc
  })
  const exchange_id = run_id.replace('run_', 'xchg_')
  const { uid } = await receiveProposal(delta, { exchange_id })
  await ann.ok(agree, { uid, data: buildPeople(0, 5) })
  await waitUntil(async () => (await ann.ok(get, { uid })).state === 'failed')
  await waitUntil(async () => (await world.store('resolution').get(exchanges, uid))?.value.job_due_ts === undefined)
  expect(await world.store('resolution').get(fusionRuns, run_id)).toEqual(before)
})

/** Once the worker has looked at each: what has room, first. */
async function waitUntilSettled(uids: readonly string[]) {
  const all = await waitUntil(async () => {
    const docs = await Promise.all(uids.map((uid) => world.store('resolution').get(exchanges, uid)))
    const values = docs.flatMap((doc) => (doc ? [doc.value] : []))
    const isSettled = values.every(({ state, is_granted }) => is_granted || state !== 'running')
    return isSettled && values
  })
  for (const { is_granted, failure } of all) if (!is_granted) expect(failure?.code ?? 'over_budget').toBe('over_budget')
  return all.map(({ is_granted }) => (is_granted ? 'granted' : 'refused')).toSorted()
}

const encodePair = (one: number, other: number, score = 0.9) => {
  const bytes = Buffer.alloc(16)
  bytes.writeUInt32LE(one, 0)
  bytes.writeUInt32LE(other, 4)
  bytes.writeDoubleLE(score, 8)
  return bytes
}

test.each([
  ['a pair twice', [encodePair(0, 0), encodePair(0, 0)]],
  ['a record in two pairs where each is in one', [encodePair(0, 0), encodePair(1, 0)]],
  ['pairs in an order of its own', [encodePair(1, 1), encodePair(0, 0)]],
])('a linker that tells of %s ends the exchange', async (_, pairs) => {
  const clk = clkParameters.parse({})
  const more = { privacy: 'clk' as const, clk, linker: 'delta', learns: ['alpha'] }
  const key = deriveX25519PublicKey(Buffer.alloc(32, 7))
  const { uid, agreement } = await receiveProposal(echo, more, sharedLabel, { key })
  await ann.ok(agree, { uid, data: buildPeople(0, 5) })
  const data = Buffer.concat(pairs).toString('base64url')
  const about = { exchange_id: uid, agreement_digest: computeAgreementDigest(agreement) }
  const content = { say: 'piece', ...about, round: 'pairs', number: 0, of: 1, items: pairs.length, data }
  expect(await carrier.refusal(receive, await delta.message('resolution', content))).toBe(200)
  const over = await waitUntil(async () => {
    const seen = await ann.ok(get, { uid })
    return seen.state !== 'running' && seen
  })
  expect(over).toMatchObject({ state: 'failed', failure: { reason: 'delta sent an impossible pair' } })
})

test('records of an attempt to agree that went no further are not those that are sent', async () => {
  const { uid } = await receiveProposal(delta)
  const stale = { tenant_id: 'tenant-a', exchange_id: uid, from: 'alpha', what: 'own', number: 0, of: 1, items: 1 }
  const row = JSON.stringify([['x', 'Wrong', 'Person']])
  await world.store('resolution').create(exchangePieces, `${uid}.alpha.own.0`, { ...stale, data: row })
  await ann.ok(agree, { uid, data: buildPeople(0, 5) })
  const sent = await waitUntil(() => world.store('resolution').get(exchangePieces, `${uid}.alpha.points.0`))
  expect(sent.value.items).toBe(5)
})
