// Decisions that peers emitted decide matches here where the profile says so, below people and the site's own sessions.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { emission } from '../../../daemon/roles/consensus/federation/emission.ts'
import { consult } from '../../../daemon/roles/resolution/entity-match/consult.ts'
import { get } from '../../../daemon/roles/resolution/entity-match/get.ts'
import { review } from '../../../daemon/roles/resolution/entity-match/review.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { startTestSite, type TestSite, waitUntil } from '../../support/site/test-site.ts'
import { createCarrier } from '../consensus/federated-session.ts'
import { createPeerSite, sharedLabel } from '../consensus/peer-site.ts'
import { buildMatchUid, seedRegistry } from './seed-registry.ts'

const bravo = await createPeerSite('bravo', 'tenant-b')
const charlie = await createPeerSite('charlie', 'tenant-c')

let world: TestSite
let ann: CheckedClient
beforeAll(async () => {
  world = await startTestSite({
    peers: [bravo.pinned, charlie.pinned],
    profile: {
      platform: { roles: ['site', 'consensus', 'resolution'] },
      resolution: { port: 0, peer_decisions: [{ peer: 'bravo', lens: 'people' }] },
    },
  })
  ann = await world.as()
  await seedRegistry(world, {
    clusters: [...'abcdefghijklmnop'].map((record) => [record]),
    pairs: [...'acegikmo'].map((record) => [record, nextLetter(record), -1] as const),
  })
  await seedRegistry(world, { lens: 'others', clusters: [['a'], ['b']], pairs: [['a', 'b', -1]] })
})
afterAll(async () => {
  await world?.end()
  bravo.remove()
  charlie.remove()
  expect(world?.loggedErrors ?? []).toEqual([])
})

const nextLetter = (letter: string) => String.fromCharCode(letter.charCodeAt(0) + 1)
const uidOf = (record: string) => buildMatchUid(record, nextLetter(record))

let sessionCount = 0
/** A decision of a peer about the pair that begins with this record. */
function buildDecision(record: string, more: Readonly<Record<string, unknown>> = {}) {
  return {
    ...{ event: 'ratified', session_id: `ses_${String(++sessionCount).padStart(32, '0')}`, seq: 5 },
    ...{ at: '2026-03-02T11:00:00.000Z', lens_id: 'lens-of-bravo', lens_version: '2', decision: 'match', score: 0.93 },
    ...{ attested: false, evidence_block_id: 'e'.repeat(64) },
    subject: {
      ...{ kind: 'entity_match', left: `north/${record}`, right: `north/${nextLetter(record)}` },
      correlation_id: `match-of-bravo-${sessionCount}`,
    },
    ...more,
  }
}

type Decision = ReturnType<typeof buildDecision>

async function deliver(fields: Decision, { peer = bravo, label = sharedLabel } = {}) {
  await (await createCarrier(world)).ok(emission, await peer.message('lens_emission', fields, { label }))
}

const retractionOf = (fields: Decision) => ({ ...fields, event: 'retracted', seq: 7, at: '2026-03-02T11:30:00.000Z' })

function waitForMatch(uid: string, holds: (match: Awaited<ReturnType<typeof readMatch>>) => boolean) {
  return waitUntil(async () => {
    world.wakeWorker('resolution', 'peer-decisions')
    const match = await readMatch(uid)
    return holds(match) && match
  })
}
const readMatch = (uid: string) => ann.ok(get, { uid })

describe('a decision of the peer that a rule names', () => {
  test('decides the match of the same records, and names peer, session and evidence', async () => {
    const decided = buildDecision('a')
    await deliver(decided)
    const match = await waitForMatch(uidOf('a'), ({ state }) => state === 'confirmed')
    expect(match).toMatchObject({
      decided_by: 'consensus',
      rulings: [
        {
          ...{ session_id: `${decided.session_id}@bravo`, peer: 'bravo', status: 'ratified', decision: 'match' },
          ...{ seq: 5, score: 0.93, evidence_block_id: 'e'.repeat(64) },
        },
      ],
    })
    await deliver(retractionOf(decided))
    expect(await waitForMatch(uidOf('a'), ({ state }) => state === 'proposed')).toMatchObject({
      decided_by: 'engine',
      rulings: [{ status: 'retracted', seq: 7 }],
    })
  })

  test('decides the match that it names by its id', async () => {
    const subject = { kind: 'entity_match', left: 'x', right: 'y', correlation_id: uidOf('c') }
    await deliver(buildDecision('c', { subject, decision: 'non_match' }))
    await waitForMatch(uidOf('c'), ({ state, decided_by }) => state === 'rejected' && decided_by === 'consensus')
  })

  test('stays below a person, before and after', async () => {
    await ann.ok(review, { correlation_id: uidOf('e'), decision: 'reject' })
    await deliver(buildDecision('e'))
    expect(await waitForMatch(uidOf('e'), ({ rulings }) => rulings.length === 1)).toMatchObject({
      ...{ state: 'rejected', decided_by: 'human' },
    })
  })

  test('leaves the way to a session of this site open', async () => {
    await deliver(buildDecision('g'))
    await waitForMatch(uidOf('g'), ({ state }) => state === 'confirmed')
    await ann.ok(consult, { correlation_id: uidOf('g'), policy: { m: 1, n: 1 } })
    expect(await waitForMatch(uidOf('g'), ({ rulings }) => rulings.length === 2)).toMatchObject({ state: 'confirmed' })
  })

  test('is found later where its match comes after it', async () => {
    await deliver(buildDecision('q'))
    // The next decision has been applied, so the one before was read.
    await deliver(buildDecision('i'))
    await waitForMatch(uidOf('i'), ({ state }) => state === 'confirmed')
    await seedRegistry(world, { clusters: [['q'], ['r']], pairs: [['q', 'r', -1]] })
    world.clock.advance(600_001)
    await waitForMatch(uidOf('q'), ({ state }) => state === 'confirmed')
  })
})

/** Until a decision that arrived after the others has been applied. */
async function waitForNextDecision(): Promise<void> {
  const next = buildDecision('o')
  await deliver(next)
  const session_id = `${next.session_id}@bravo`
  await waitForMatch(uidOf('o'), ({ rulings }) => rulings.some((ruling) => ruling.session_id === session_id))
}

describe('nothing is decided', () => {
  test.each([
    ['by a peer that no rule names', 'k', { peer: charlie }],
    ['by a decision under a higher label', 'm', { label: { ...sharedLabel, level: 'SECRET' } }],
  ])('%s', async (_, record, sent) => {
    await deliver(buildDecision(record), sent)
    await waitForNextDecision()
    expect(await readMatch(uidOf(record))).toMatchObject({ state: 'proposed', rulings: [] })
  })

  test('in another lens', async () => {
    const uid = buildMatchUid('a', 'b', 'others')
    const subject = { kind: 'entity_match', left: 'x', right: 'y', correlation_id: uid }
    await deliver(buildDecision('a', { subject }))
    await waitForNextDecision()
    expect(await readMatch(uid)).toMatchObject({ state: 'proposed', rulings: [] })
  })
})
