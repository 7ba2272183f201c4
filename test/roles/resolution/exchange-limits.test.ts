// What a site brings into an exchange keeps its label, and a peer its budget, whoever agrees and however often at once.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { digestOf } from '../../../daemon/kernel/canonical.ts'
import { agree } from '../../../daemon/roles/resolution/exchange/agree.ts'
import type { Agreement } from '../../../daemon/roles/resolution/exchange/agreement.ts'
import { get } from '../../../daemon/roles/resolution/exchange/get.ts'
import { exchanges } from '../../../daemon/roles/resolution/exchange/model.ts'
import { receive } from '../../../daemon/roles/resolution/exchange/receive.ts'
import { extract } from '../../../daemon/roles/resolution/fusion/extract.ts'
import { fusionRuns } from '../../../daemon/roles/resolution/fusion-run/model.ts'
import { create } from '../../../daemon/roles/resolution/lens/create.ts'
import { lens } from '../../../daemon/roles/resolution/lens/model.ts'
import type { Person } from '../../support/person.ts'
import { type SiteWorld, siteWorld, until } from '../../support/site-world.ts'
import { peerSite, shared, sharedLabel } from '../consensus/peer-messages.ts'
import { peopleOf, personLens } from './resolution-world.ts'

const bravo = await peerSite('bravo', 'tenant-b')
const charlie = await peerSite('charlie', 'tenant-c')
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
  world = await siteWorld({ profile, peers: [bravo.pinned, charlie.pinned, delta.pinned] })
  ann = await world.as({ clearance: { level: 'SECRET' } })
  carrier = await world.as({ roles: ['admin'] })
  await ann.ok(create, { body: personLens('1.0.0'), classification: shared })
  await ann.ok(create, { body: personLens('2.0.0'), classification: secret })
})
afterAll(async () => {
  await world?.end()
  for (const peer of [bravo, charlie, delta]) peer.remove()
  expect(world?.faults ?? []).toEqual([])
})

let last = 0
async function proposed(by: typeof bravo, more: Partial<Agreement> = {}, classification = sharedLabel) {
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
    seed: 1,
    ...more,
  }
  const said = { say: 'proposal', agreement, classification, size: 3 }
  const label = { label: classification }
  const answer = await carrier.refusal(receive, await by.message('resolution', said, label))
  return { uid: agreement.exchange_id, answer }
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
