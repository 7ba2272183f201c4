// Decisions of people on a match: stored word by word, and followed by the clusters.
import { beforeEach, describe, expect, test } from 'vitest'
import { get as cluster } from '../../../daemon/roles/resolution/entity-cluster/get.ts'
import { list as clusters } from '../../../daemon/roles/resolution/entity-cluster/list.ts'
import { attest } from '../../../daemon/roles/resolution/entity-match/attest.ts'
import { get } from '../../../daemon/roles/resolution/entity-match/get.ts'
import { entityMatches } from '../../../daemon/roles/resolution/entity-match/model.ts'
import { review } from '../../../daemon/roles/resolution/entity-match/review.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { setUpResolutionSite } from './resolution-site.ts'
import { buildMatchUid, seedRegistry } from './seed-registry.ts'

const world = setUpResolutionSite({ attesters: { registrar: { spoken_for_by: ['bob'] } } })

let turn = 0
let lens = ''
let ann: CheckedClient

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

const buildUid = (one: string, other: string) => buildMatchUid(one, other, lens)
const reviewMatch = (one: string, other: string, decision: 'confirm' | 'reject' | 'defer', by = ann) =>
  by.ok(review, { correlation_id: buildUid(one, other), decision, reason: 'seen' })

/** Members of the entities that are, once all decisions are in them. */
async function listEntityMembers(): Promise<string[]> {
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
    expect(await reviewMatch('a', 'b', 'reject')).toMatchObject({
      state: 'rejected',
      decided_by: 'human',
      settled: false,
    })
    expect(await listEntityMembers()).toEqual(['a', 'bc', 'de', 'f'])
    expect(await ann.ok(get, { uid: buildUid('a', 'b') })).toMatchObject({
      linked: false,
      settled: true,
      reviews: [{ seq: 1, by: 'ann', decision: 'reject', reason: 'seen' }],
    })
  })

  test('that confirms joins two clusters under the id of the larger, and the other id tells where its records are', async () => {
    const before = await ann.ok(clusters, { lens, min_size: 1 })
    const idOf = (record: string) =>
      before.items.find((each) => 'members' in each && each.members.some(({ record_id }) => record_id === record))?.uid
    await reviewMatch('c', 'd', 'confirm')
    expect(await listEntityMembers()).toEqual(['abcde', 'f'])
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
      await reviewMatch('c', 'd', decision)
      await listEntityMembers()
    }
    for (const decision of ['reject', 'defer'] as const) {
      await reviewMatch('a', 'b', decision)
      await listEntityMembers()
    }
    expect(await listEntityMembers()).toEqual(['abc', 'de', 'f'])
    expect((await ann.ok(clusters, { lens, min_size: 1 })).items.map(({ uid }) => uid).sort()).toEqual(before)
    const { reviews, state } = await ann.ok(get, { uid: buildUid('a', 'b') })
    expect([reviews.map(({ decision }) => decision), state]).toEqual([['reject', 'defer'], 'deferred'])
  })

  test('loses to a reject where both cannot hold, and that is reported', async () => {
    await reviewMatch('c', 'd', 'confirm')
    await listEntityMembers()
    await reviewMatch('d', 'e', 'confirm')
    await reviewMatch('e', 'f', 'confirm')
    expect(await listEntityMembers()).toEqual(['abcdef'])
    await reviewMatch('a', 'b', 'confirm')
    await reviewMatch('b', 'c', 'confirm')
    await reviewMatch('a', 'c', 'reject')
    expect((await listEntityMembers()).some((members) => members.includes('a') && members.includes('c'))).toBe(false)
    const overruled = await Promise.all(
      [
        ['a', 'b'],
        ['b', 'c'],
      ].map(async ([one = '', other = '']) => (await ann.ok(get, { uid: buildUid(one, other) })).overruled),
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
    for (const [one, other, decision] of words) await reviewMatch(one, other, decision)
    const first = await listEntityMembers()
    for (const [one, other] of words) await reviewMatch(one, other, 'defer')
    expect(await listEntityMembers()).toEqual(['abc', 'de', 'f'])
    for (const [one, other, decision] of words.toReversed()) {
      await reviewMatch(one, other, decision)
      await listEntityMembers()
    }
    expect(await listEntityMembers()).toEqual(first)
  })

  test('under an idempotency key counts once, and another under that key is refused', async () => {
    const headers = { 'idempotency-key': `key-${turn}` }
    const input = { correlation_id: buildUid('a', 'c'), decision: 'defer' as const }
    const result = await ann.ok(review, input, headers)
    expect((await ann.ok(review, input, headers)).reviews).toEqual(result.reviews)
    expect(await ann.refusal(review, { ...input, decision: 'reject' }, headers)).toBe('idempotency_mismatch')
  })

  test('needs the permission, the tenant and the clearance', async () => {
    const input = { correlation_id: buildUid('a', 'b'), decision: 'reject' as const }
    expect(await (await world().as({ roles: ['auditor'] })).refusal(review, input)).toBe('forbidden')
    expect(await (await world().as({ tenant: 'tenant-b' })).refusal(review, input)).toBe('not_your_tenant')
    expect(await ann.refusal(review, { ...input, correlation_id: 'match_none' })).toBe('not_found')
    expect(await listEntityMembers()).toEqual(['abc', 'de', 'f'])
  })
})

describe('an attestation', () => {
  const attesting = (attester_id: string) => ({
    correlation_id: buildUid('a', 'b'),
    attester_id,
    decision: 'reject' as const,
    confidence_adjustment: -0.5,
    evidence: 'the register of births',
  })

  test('is made by the attester, or by a delegate that the profile allows', async () => {
    expect(await ann.refusal(attest, attesting('registrar'))).toBe('not_contributor')
    expect(await ann.refusal(attest, attesting('nobody'))).toBe('not_contributor')
    const bob = await world().as({ subject: 'bob' })
    const result = await bob.ok(attest, attesting('registrar'))
    expect(result.attestations).toMatchObject([{ seq: 1, attester_id: 'registrar', by: 'bob', decision: 'reject' }])
    expect(result.confidence).toBeCloseTo(1 / (1 + 2 ** -9) - 0.5, 12)
    expect(await listEntityMembers()).toEqual(['a', 'bc', 'de', 'f'])
    expect((await ann.ok(attest, attesting('ann'))).attestations).toHaveLength(2)
  })

  test('and a review are words of people in one order: the last one counts', async () => {
    await ann.ok(attest, attesting('ann'))
    expect(await reviewMatch('a', 'b', 'confirm')).toMatchObject({ state: 'confirmed', reviews: [{ seq: 2 }] })
    expect(await listEntityMembers()).toEqual(['abc', 'de', 'f'])
  })
})

test('the next start settles a decision that a crash left pending', async () => {
  const store = world().store('resolution')
  const doc = await store.get(entityMatches, buildUid('a', 'b'))
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
  expect(await listEntityMembers()).toEqual(['a', 'bc', 'de', 'f'])
})
