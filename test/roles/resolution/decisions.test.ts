// What people say of a match: kept word by word, and followed by the clusters.
import { beforeEach, describe, expect, test } from 'vitest'
import { get as cluster } from '../../../daemon/roles/resolution/entity-cluster/get.ts'
import { list as clusters } from '../../../daemon/roles/resolution/entity-cluster/list.ts'
import { attest } from '../../../daemon/roles/resolution/entity-match/attest.ts'
import { get } from '../../../daemon/roles/resolution/entity-match/get.ts'
import { entityMatches } from '../../../daemon/roles/resolution/entity-match/model.ts'
import { review } from '../../../daemon/roles/resolution/entity-match/review.ts'
import type { Person } from '../../support/person.ts'
import { matchOf, seedRegistry } from './registry-world.ts'
import { sharedResolution } from './resolution-world.ts'

const world = sharedResolution({ attesters: { registrar: { spoken_for_by: ['bob'] } } })

let turn = 0
let lens = ''
let ann: Person

/** Two clusters and one record alone, under a lens of their own for each test. */
beforeEach(async () => {
  lens = `people-${++turn}`
  ann = await world().as()
  await seedRegistry(world(), {
    lens,
    clusters: [['a', 'b', 'c'], ['d', 'e'], ['f']],
    pairs: [
      ['a', 'b', 9],
      ['b', 'c', 8],
      ['a', 'c', 2],
      ['d', 'e', 9],
      ['c', 'd', -1],
      ['e', 'f', -2],
    ],
  })
})

const uidOf = (one: string, other: string) => matchOf(one, other, lens)
const say = (one: string, other: string, decision: 'confirm' | 'reject' | 'defer', by = ann) =>
  by.ok(review, { correlation_id: uidOf(one, other), decision, reason: 'seen' })

/** Members of the entities that are, once all decisions are in them. */
async function standing(): Promise<string[]> {
  await expect
    .poll(
      async () =>
        (
          await world()
            .store('resolution')
            .list(entityMatches, { filter: { lens, owes: 1 }, limit: 1 })
        ).docs,
      { timeout: 60_000 },
    )
    .toEqual([])
  const { items } = await ann.ok(clusters, { lens, min_size: 1 })
  return items.map((each) => ('members' in each ? each.members.map(({ record_id }) => record_id).join('') : '')).sort()
}

describe('a review', () => {
  test('that rejects splits the cluster, and the others go where they are nearer', async () => {
    expect(await say('a', 'b', 'reject')).toMatchObject({ state: 'rejected', decided_by: 'human', settled: false })
    expect(await standing()).toEqual(['a', 'bc', 'de', 'f'])
    expect(await ann.ok(get, { uid: uidOf('a', 'b') })).toMatchObject({
      linked: false,
      settled: true,
      reviews: [{ seq: 1, by: 'ann', decision: 'reject', reason: 'seen' }],
    })
  })

  test('that confirms joins two clusters under the id of the larger, and the other id tells where its records are', async () => {
    const before = await ann.ok(clusters, { lens, min_size: 1 })
    const idOf = (record: string) =>
      before.items.find((each) => 'members' in each && each.members.some(({ record_id }) => record_id === record))?.uid
    await say('c', 'd', 'confirm')
    expect(await standing()).toEqual(['abcde', 'f'])
    expect(await ann.ok(cluster, { uid: idOf('a') ?? '' })).toMatchObject({
      size: 5,
      lineage: { merged_from: [idOf('d')] },
    })
    expect(await ann.ok(cluster, { uid: idOf('d') ?? '' })).toMatchObject({
      state: 'merged',
      members: [],
      lineage: { merged_into: [idOf('a')] },
    })
  })

  test('that is taken back brings back what was, the ids too', async () => {
    const before = (await ann.ok(clusters, { lens, min_size: 1 })).items.map(({ uid }) => uid).sort()
    for (const decision of ['confirm', 'defer'] as const) {
      await say('c', 'd', decision)
      await standing()
    }
    for (const decision of ['reject', 'defer'] as const) {
      await say('a', 'b', decision)
      await standing()
    }
    expect(await standing()).toEqual(['abc', 'de', 'f'])
    expect((await ann.ok(clusters, { lens, min_size: 1 })).items.map(({ uid }) => uid).sort()).toEqual(before)
    const { reviews, state } = await ann.ok(get, { uid: uidOf('a', 'b') })
    expect([reviews.map(({ decision }) => decision), state]).toEqual([['reject', 'defer'], 'deferred'])
  })

  test('loses to a reject where both cannot hold, and that is told', async () => {
    await say('c', 'd', 'confirm')
    await standing()
    await say('d', 'e', 'confirm')
    await say('e', 'f', 'confirm')
    expect(await standing()).toEqual(['abcdef'])
    await say('a', 'b', 'confirm')
    await say('b', 'c', 'confirm')
    await say('a', 'c', 'reject')
    expect((await standing()).some((members) => members.includes('a') && members.includes('c'))).toBe(false)
    const overruled = await Promise.all(
      [
        ['a', 'b'],
        ['b', 'c'],
      ].map(async ([one = '', other = '']) => (await ann.ok(get, { uid: uidOf(one, other) })).overruled),
    )
    expect(overruled.filter((each) => each === true)).toHaveLength(1)
  })

  test('comes to the same clusters in any order', async () => {
    const words = [
      ['a', 'b', 'reject'],
      ['c', 'd', 'confirm'],
      ['e', 'f', 'confirm'],
      ['d', 'e', 'reject'],
    ] as const
    for (const [one, other, decision] of words) await say(one, other, decision)
    const first = await standing()
    for (const [one, other] of words) await say(one, other, 'defer')
    expect(await standing()).toEqual(['abc', 'de', 'f'])
    for (const [one, other, decision] of words.toReversed()) {
      await say(one, other, decision)
      await standing()
    }
    expect(await standing()).toEqual(first)
  })

  test('under an idempotency key counts once, and another under that key is refused', async () => {
    const headers = { 'idempotency-key': `key-${turn}` }
    const input = { correlation_id: uidOf('a', 'c'), decision: 'defer' as const }
    const said = await ann.ok(review, input, headers)
    expect((await ann.ok(review, input, headers)).reviews).toEqual(said.reviews)
    expect(await ann.refusal(review, { ...input, decision: 'reject' }, headers)).toBe('idempotency_mismatch')
  })

  test('needs the permission, the tenant and the clearance', async () => {
    const input = { correlation_id: uidOf('a', 'b'), decision: 'reject' as const }
    expect(await (await world().as({ roles: ['auditor'] })).refusal(review, input)).toBe('forbidden')
    expect(await (await world().as({ tenant: 'tenant-b' })).refusal(review, input)).toBe('not_your_tenant')
    expect(await ann.refusal(review, { ...input, correlation_id: 'match_none' })).toBe('not_found')
    expect(await standing()).toEqual(['abc', 'de', 'f'])
  })
})

describe('an attestation', () => {
  const attesting = (attester_id: string) => ({
    correlation_id: uidOf('a', 'b'),
    attester_id,
    decision: 'reject' as const,
    confidence_adjustment: -0.5,
    evidence: 'the register of births',
  })

  test('is said by the attester, or by whom the profile lets speak for it', async () => {
    expect(await ann.refusal(attest, attesting('registrar'))).toBe('not_contributor')
    expect(await ann.refusal(attest, attesting('nobody'))).toBe('not_contributor')
    const bob = await world().as({ subject: 'bob' })
    const said = await bob.ok(attest, attesting('registrar'))
    expect(said.attestations).toMatchObject([{ seq: 1, attester_id: 'registrar', by: 'bob', decision: 'reject' }])
    expect(said.confidence).toBeCloseTo(1 / (1 + 2 ** -9) - 0.5, 12)
    expect(await standing()).toEqual(['a', 'bc', 'de', 'f'])
    expect((await ann.ok(attest, attesting('ann'))).attestations).toHaveLength(2)
  })

  test('and a review are words of people in one order: the last one counts', async () => {
    await ann.ok(attest, attesting('ann'))
    expect(await say('a', 'b', 'confirm')).toMatchObject({ state: 'confirmed', reviews: [{ seq: 2 }] })
    expect(await standing()).toEqual(['abc', 'de', 'f'])
  })
})

test('a decision that a crash left owing is settled by the next start', async () => {
  const store = world().store('resolution')
  const doc = await store.get(entityMatches, uidOf('a', 'b'))
  if (!doc) throw new Error('no match')
  const word = { id: 'rev_1', seq: 1, by: 'ann', at: doc.value.created_at, decision: 'reject' as const }
  await store.put(
    entityMatches,
    doc.id,
    { ...doc.value, state: 'rejected', decided_by: 'human', owes: 1, reviews: [word] },
    doc.version,
  )
  await world().restart()
  ann = await world().as()
  expect(await standing()).toEqual(['a', 'bc', 'de', 'f'])
})
