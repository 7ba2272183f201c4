// What a site brings into an exchange keeps its label, and a peer its budget, whoever agrees and however often at once.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { publicKeyOf } from '../../../daemon/kernel/agreed-key.ts'
import { digestOf } from '../../../daemon/kernel/canonical.ts'
import { agree } from '../../../daemon/roles/resolution/exchange/agree.ts'
import { type Agreement, agreementDigest } from '../../../daemon/roles/resolution/exchange/agreement.ts'
import { get } from '../../../daemon/roles/resolution/exchange/get.ts'
import { exchangePieces, exchanges } from '../../../daemon/roles/resolution/exchange/model.ts'
import { receive } from '../../../daemon/roles/resolution/exchange/receive.ts'
import { extract } from '../../../daemon/roles/resolution/fusion/extract.ts'
import { fusionRuns } from '../../../daemon/roles/resolution/fusion-run/model.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import { lens } from '../../../daemon/roles/resolution/lens/model.ts'
import { clkParameters } from '../../../daemon/roles/resolution/privacy/clk/parameters.ts'
import type { Person } from '../../support/person.ts'
import { type SiteWorld, siteWorld, until } from '../../support/site-world.ts'
import { peerSite, shared, sharedLabel } from '../consensus/peer-messages.ts'
import { peopleOf, personLens } from './resolution-world.ts'

const bravo = await peerSite('bravo', 'tenant-b')
const charlie = await peerSite('charlie', 'tenant-c')
const echo = await peerSite('echo', 'tenant-c')
const delta = await peerSite('delta', 'tenant-b')
let world: SiteWorld
let ann: Person
let carrier: Person
const secret = { ...shared, level: 'SECRET' }

beforeAll(async () => {
  const profile = {
    platform: { roles: ['site', 'resolution'] },
    resolution: { port: 0, peer_exchanges_per_day: 3 },
  }
  world = await siteWorld({ profile, peers: [bravo.pinned, charlie.pinned, delta.pinned, echo.pinned] })
  ann = await world.as({ clearance: { level: 'SECRET' } })
  carrier = await world.as({ roles: ['admin'] })
  await ann.ok(create, { body: personLens('1.0.0'), classification: shared })
  await ann.ok(create, { body: personLens('2.0.0'), classification: secret })
})
afterAll(async () => {
  await world?.end()
  for (const peer of [bravo, charlie, delta, echo]) peer.remove()
  expect(world?.faults ?? []).toEqual([])
})

let last = 0
async function proposed(by: typeof bravo, more: Partial<Agreement> = {}, classification = sharedLabel, told = {}) {
  const lens_version = more.lens_version ?? '1.0.0'
  const agreement: Agreement = {
    exchange_id: `xchg_${String(++last).padStart(32, '0')}`,
    lens: 'people',
    lens_version,
    lens_digest: digestOf(lens.parse(personLens(lens_version))),
    parties: [by.name, 'alpha'],
    fields: ['given_name', 'surname'],
    privacy: 'psi',
    learns: ['alpha', by.name],
    accept_dictionary_risk: false,
    max_set_size: 100,
    max_set_bytes: 1_000_000,
    seed: 1,
    ...more,
  }
  const said = { say: 'proposal', agreement, classification, size: 3, ...told }
  const label = { label: classification }
  const answer = await carrier.refusal(receive, await by.message('resolution', said, label))
  return { uid: agreement.exchange_id, agreement, answer }
}

test('records that a lens sees do not leave below its label', async () => {
  const { uid } = await proposed(charlie, { lens_version: '2.0.0' })
  expect(await ann.refusal(agree, { uid, data: peopleOf(0, 5) })).toBe('label_denied')
  expect(await ann.ok(get, { uid })).toMatchObject({ state: 'proposed', agreed: [] })
})

test('a peer has its budget once, by however many it is agreed at once', async () => {
  const uids: string[] = []
  for (let at = 0; at < 6; at++) uids.push((await proposed(bravo)).uid)
  await Promise.all(uids.map((uid) => ann.refusal(agree, { uid, data: peopleOf(0, 5) })))
  expect(await settled(uids)).toEqual(Array.from(uids, (_, at) => (at < 3 ? 'granted' : 'refused')))
})

test('what was agreed above somebody’s clearance counts when he agrees', async () => {
  const ben = await world.as({ clearance: { level: 'UNCLASSIFIED' } })
  const high = { ...sharedLabel, level: 'SECRET' }
  for (let at = 0; at < 3; at++) {
    const { uid } = await proposed(charlie, {}, high)
    await ann.ok(agree, { uid, data: peopleOf(0, 5) })
  }
  const { uid } = await proposed(charlie)
  expect(await ben.refusal(agree, { uid, data: peopleOf(0, 5) })).toBe(200)
  expect(await settled([uid])).toEqual(['refused'])
})

test('an exchange that a peer gives the id of a run of this site is no way to that run', async () => {
  const { run_id } = await ann.ok(extract, {
    lens_id: 'people',
    lens_version: '1.0.0',
    node_data: { alpha: peopleOf(0, 5), bravo: peopleOf(0, 5) },
  })
  const before = await until(async () => {
    const doc = await world.store('resolution').get(fusionRuns, run_id)
    return doc?.value.state === 'extracted' && doc.value.owes === 0 && doc
  })
  const exchange_id = run_id.replace('run_', 'xchg_')
  const { uid } = await proposed(delta, { exchange_id })
  await ann.ok(agree, { uid, data: peopleOf(0, 5) })
  await until(async () => (await ann.ok(get, { uid })).state === 'failed')
  await until(async () => (await world.store('resolution').get(exchanges, uid))?.value.owes === 0)
  expect(await world.store('resolution').get(fusionRuns, run_id)).toEqual(before)
})

/** Once the worker has looked at each: what has room, first. */
async function settled(uids: readonly string[]) {
  const all = await until(async () => {
    const docs = await Promise.all(uids.map((uid) => world.store('resolution').get(exchanges, uid)))
    const values = docs.flatMap((doc) => (doc ? [doc.value] : []))
    const isSettled = values.every(({ state, is_granted }) => is_granted || state !== 'running')
    return isSettled && values
  })
  for (const { is_granted, failure } of all) if (!is_granted) expect(failure?.code ?? 'over_budget').toBe('over_budget')
  return all.map(({ is_granted }) => (is_granted ? 'granted' : 'refused')).toSorted()
}

const pair = (one: number, other: number, score = 0.9) => {
  const bytes = Buffer.alloc(16)
  bytes.writeUInt32LE(one, 0)
  bytes.writeUInt32LE(other, 4)
  bytes.writeDoubleLE(score, 8)
  return bytes
}

test.each([
  ['a pair twice', [pair(0, 0), pair(0, 0)]],
  ['a record in two pairs where each is in one', [pair(0, 0), pair(1, 0)]],
  ['pairs in an order of its own', [pair(1, 1), pair(0, 0)]],
])('a linker that tells of %s ends the exchange', async (_, pairs) => {
  const clk = clkParameters.parse({})
  const more = { privacy: 'clk' as const, clk, linker: 'delta', learns: ['alpha'] }
  const key = publicKeyOf(Buffer.alloc(32, 7))
  const { uid, agreement } = await proposed(echo, more, sharedLabel, { key })
  await ann.ok(agree, { uid, data: peopleOf(0, 5) })
  const data = Buffer.concat(pairs).toString('base64url')
  const about = { exchange_id: uid, agreement_digest: agreementDigest(agreement) }
  const said = { say: 'piece', ...about, round: 'pairs', number: 0, of: 1, items: pairs.length, data }
  expect(await carrier.refusal(receive, await delta.message('resolution', said))).toBe(200)
  const over = await until(async () => {
    const seen = await ann.ok(get, { uid })
    return seen.state !== 'running' && seen
  })
  expect(over).toMatchObject({ state: 'failed', failure: { reason: 'delta told of a pair that cannot be' } })
})

test('records of an attempt to agree that went no further are not those that are sent', async () => {
  const { uid } = await proposed(delta)
  const stale = { tenant_id: 'tenant-a', exchange_id: uid, from: 'alpha', what: 'own', number: 0, of: 1, items: 1 }
  const row = JSON.stringify([['x', 'Wrong', 'Person']])
  await world.store('resolution').create(exchangePieces, `${uid}.alpha.own.0`, { ...stale, data: row })
  await ann.ok(agree, { uid, data: peopleOf(0, 5) })
  const sent = await until(() => world.store('resolution').get(exchangePieces, `${uid}.alpha.points.0`))
  expect(sent.value.items).toBe(5)
})
