// Matches that are put to consensus sessions, and what these decide: through both roles of one site.
import { beforeAll, describe, expect, test } from 'vitest'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { create as createSession } from '../../../daemon/roles/consensus/session/create.ts'
import { get as getSession } from '../../../daemon/roles/consensus/session/get.ts'
import { list as sessions } from '../../../daemon/roles/consensus/session/list.ts'
import { open } from '../../../daemon/roles/consensus/session/open.ts'
import { create as arrive } from '../../../daemon/roles/resolution/arrival/create.ts'
import { list as clusters } from '../../../daemon/roles/resolution/entity-cluster/list.ts'
import { consult } from '../../../daemon/roles/resolution/entity-match/consult.ts'
import { get } from '../../../daemon/roles/resolution/entity-match/get.ts'
import { list as matches } from '../../../daemon/roles/resolution/entity-match/list.ts'
import { entityMatches, type MatchView, type StoredMatch } from '../../../daemon/roles/resolution/entity-match/model.ts'
import { review } from '../../../daemon/roles/resolution/entity-match/review.ts'
import { rule } from '../../../daemon/roles/resolution/entity-match/rule.ts'
import { fusionRuns } from '../../../daemon/roles/resolution/fusion-run/model.ts'
import { start } from '../../../daemon/roles/resolution/fusion-run/start.ts'
import { status } from '../../../daemon/roles/resolution/fusion-run/status.ts'
import { create as createLens } from '../../../daemon/roles/resolution/lens/create.ts'
import { revoke } from '../../../daemon/roles/site/token/revoke.ts'
import { quorumPolicy } from '../../../daemon/shared/quorum-policy/quorum-policy.ts'
import { accept } from '../../support/delegation/delegation-answers.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import { type TokenHolder, waitUntil } from '../../support/site/test-site.ts'
import { buildOpinionInput } from '../consensus/consensus-site.ts'
import { buildPeople, buildPersonLens, setUpResolutionSite } from './resolution-site.ts'
import { buildMatchUid, seedRegistry } from './seed-registry.ts'

const world = setUpResolutionSite(
  {},
  {
    platform: { roles: ['site', 'resolution', 'consensus'] },
    consensus: {
      contributors: { one: { signer_keys: ['one-1'], spoken_for_by: ['ann'] } },
    },
  },
)
const policy = { m: 1, n: 1 }

let ann: CheckedClient
let olga: CheckedClient
beforeAll(async () => {
  ann = await world().as()
  olga = await world().as({ subject: 'olga', roles: ['operator'] })
})

let turn = 0
/** Two clusters with a pair between them, under a lens of their own. */
async function seedClusters() {
  const lens = `people-${++turn}`
  const pairs = [
    ['a', 'b', 9],
    ['c', 'd', 9],
    ['b', 'c', -0.2],
  ] as const
  await seedRegistry(world(), {
    lens,
    clusters: [
      ['a', 'b'],
      ['c', 'd'],
    ],
    pairs,
  })
  return { lens, uid: buildMatchUid('b', 'c', lens) }
}

/** The session that a new consultation of the match opens. */
async function consultMatch(uid: string): Promise<string> {
  const { rulings } = await ann.ok(consult, { correlation_id: uid, policy })
  return waitForSession(uid, rulings.length)
}

/** The session of the ruling at this position, once it is open. */
async function waitForSession(uid: string, before: number): Promise<string> {
  const { rulings } = await waitUntil(async () => {
    const match = await ann.ok(get, { uid })
    const id = match.rulings[before]?.session_id
    return id !== undefined && (await ann.call(getSession, { id })).value !== undefined && match
  })
  return rulings.at(-1)?.session_id ?? ''
}

/** The match as it is where no notice of its session arrived, once all that were sent have been delivered. */
async function forgetRuling(uid: string, session_id: string): Promise<void> {
  await waitUntil(async () => {
    const { rulings } = await ann.ok(get, { uid })
    const session = await ann.ok(getSession, { id: rulings[0]?.session_id ?? '' })
    return session.undelivered === 0
  })
  await world()
    .store('resolution')
    .update(entityMatches, uid, ({ value }) => {
      const rulings = [{ session_id, seq: 0, status: 'open' as const, at: value.created_at }]
      const undecided = { state: 'proposed' as const, decided_by: 'engine' as const, owes: 0 as const }
      return { next: { ...value, ...undecided, rulings }, answer: undefined }
    })
}

const waitForMatchState = (uid: string, state: MatchView['state'], decided_by: MatchView['decided_by']) =>
  waitUntil(async () => {
    const match = await ann.ok(get, { uid })
    return match.state === state && match.decided_by === decided_by && match.settled && match
  })

async function listEntities(lens: string): Promise<string[]> {
  const { items } = await ann.ok(clusters, { lens, min_size: 1 })
  return items.map((each) => ('members' in each ? each.members.map(({ record_id }) => record_id).join('') : '')).sort()
}

describe('a match that is put to consensus', () => {
  test('is what a session is about, and follows what it ratifies; withdrawn, it is as it was', async () => {
    const { lens, uid } = await seedClusters()
    const id = await consultMatch(uid)
    expect(await ann.ok(getSession, { id })).toMatchObject({
      subject: { kind: 'entity_match', left: 'north/b', right: 'north/c', correlation_id: uid },
      tenant_id: 'tenant-a',
      created_by: 'ann',
      lens_version: '1.0.0',
    })
    await ann.ok(contribute, { id, ...buildOpinionInput('one', 0.95) })
    const match = await waitForMatchState(uid, 'confirmed', 'consensus')
    expect(match).toMatchObject({
      linked: true,
      rulings: [{ session_id: id, status: 'ratified', decision: 'match', score: 0.95, attested: false }],
    })
    expect(match.rulings[0]?.evidence_block_id).toMatch(/^[0-9a-f]{64}$/)
    expect(await listEntities(lens)).toEqual(['abcd'])
    await olga.ok(cancel, { id })
    await waitForMatchState(uid, 'proposed', 'engine')
    expect(await listEntities(lens)).toEqual(['ab', 'cd'])
    expect(await consultMatch(uid)).not.toBe(id)
  })

  test('stays as a person decided, after any ratification; the ruling counts once the person takes it back', async () => {
    const { lens, uid } = await seedClusters()
    const id = await consultMatch(uid)
    await ann.ok(review, { correlation_id: uid, decision: 'reject' })
    await ann.ok(contribute, { id, ...buildOpinionInput('one', 0.95) })
    await waitUntil(async () => (await ann.ok(get, { uid })).rulings[0]?.status === 'ratified')
    await waitForMatchState(uid, 'rejected', 'human')
    expect(await listEntities(lens)).toEqual(['ab', 'cd'])
    await ann.ok(review, { correlation_id: uid, decision: 'defer' })
    await waitForMatchState(uid, 'confirmed', 'consensus')
  })

  test('may sit again when its session is cancelled before it decided', async () => {
    const { uid } = await seedClusters()
    const id = await consultMatch(uid)
    await olga.ok(cancel, { id })
    await waitUntil(async () => (await ann.ok(get, { uid })).rulings[0]?.status === 'retracted')
    expect(await ann.ok(get, { uid })).toMatchObject({ state: 'proposed', decided_by: 'engine' })
    expect(await consultMatch(uid)).not.toBe(id)
  })

  test('has one session at a time', async () => {
    const { uid } = await seedClusters()
    const first = await ann.ok(consult, { correlation_id: uid, policy })
    expect(await ann.ok(consult, { correlation_id: uid, policy })).toMatchObject({ uid: first.uid })
    const id = await waitForSession(uid, 0)
    const repeated = await ann.ok(consult, { correlation_id: uid, policy })
    expect(repeated.rulings).toMatchObject([{ session_id: id, status: 'open' }])
    expect((await ann.ok(get, { uid })).rulings).toHaveLength(1)
  })

  test.each([
    ['withdrawn', 'retracted'],
    ['lost with the store of consensus', 'failed'],
  ])('may sit again when its session was %s and it heard nothing of it', async (how, status) => {
    const { uid } = await seedClusters()
    const id = await consultMatch(uid)
    if (how === 'withdrawn') await olga.ok(cancel, { id })
    const session_id = how === 'withdrawn' ? id : `ses_${'0'.repeat(32)}`
    await forgetRuling(uid, session_id)
    expect(await consultMatch(uid)).not.toBe(id)
    const { rulings } = await ann.ok(get, { uid })
    expect(rulings).toMatchObject([
      { session_id, status },
      { status: 'open', seq: 0 },
    ])
  })

  test('is decided at the next consultation when it heard nothing of the ratification', async () => {
    const { uid } = await seedClusters()
    const id = await consultMatch(uid)
    await ann.ok(contribute, { id, ...buildOpinionInput('one', 0.95) })
    const { rulings } = await waitForMatchState(uid, 'confirmed', 'consensus')
    await forgetRuling(uid, id)
    expect(await ann.ok(get, { uid })).toMatchObject({ state: 'proposed', rulings: [{ status: 'open' }] })
    expect(await ann.refusal(consult, { correlation_id: uid, policy })).toBe('wrong_state')
    expect(await ann.ok(get, { uid })).toMatchObject({ state: 'confirmed', decided_by: 'consensus', rulings })
  })

  test('gets its session in the name of the person who requested it', async () => {
    const { uid } = await seedClusters()
    const id = await consultMatch(uid)
    const { json } = await world().call('consensus', 'GET', `/api/v2/audit?target=${id}`, undefined, {
      token: olga.token,
    })
    expect((json as { items: unknown[] }).items).toMatchObject([
      { event: { action: 'consensus.session.open', subject: 'ann', actor: 'role:resolution', tenant_id: 'tenant-a' } },
    ])
  })

  test('gets none in the name of a person who was revoked meanwhile, whatever the match says about it', async () => {
    const { uid } = await seedClusters()
    const principal = await storePrincipal({ subject: 'eve', roles: ['analyst'] }, uid)
    await olga.ok(revoke, { subject: 'eve', reason: 'left' })
    expect(await editConsultation(uid, { principal: { ...principal, subject: 'ann', roles: ['admin'] } })).toMatch(
      /was revoked/,
    )
  })

  test('gets none by the grant of other work of a stronger person, though the match names its run', async () => {
    const stronger = { subject: 'olga', roles: ['admin'] }
    const { uid } = await seedClusters()
    const foreign = { principal: await storePrincipal(stronger, `${uid}0`) }
    expect(await editConsultation(uid, foreign)).toMatch(/belongs to other stored work/)
    const ofRun = await storePrincipal(stronger, 'run_1', fusionRuns.name)
    expect(await editConsultation(uid, { principal: ofRun, run_id: 'run_1' })).toMatch(/belongs to other stored work/)
    expect(await editConsultation(uid, { principal: { ...ofRun, grant: 'x.y.z' } })).toMatch(/the grant is not valid/)
  })

  test('that no session can be opened for says why', async () => {
    const { uid } = await seedClusters()
    await ann.ok(consult, { correlation_id: uid, policy, invite: ['nowhere'] })
    const match = await waitUntil(async () => {
      const found = await ann.ok(get, { uid })
      return found.rulings[0]?.status === 'failed' && found
    })
    expect(match.rulings[0]?.reason).toMatch(/nowhere|peer/)
  })
})

async function storePrincipal(holder: TokenHolder, id: string, collection = entityMatches.name) {
  const acting = world().delegation('resolution', { subject_token: await world().token(holder) })
  return accept(await acting.store({ collection, id }))
}

/** Why a consultation that was written into the store has no session. */
async function editConsultation(
  uid: string,
  fields: Pick<NonNullable<StoredMatch['consult']>, 'principal' | 'run_id'>,
): Promise<string | undefined> {
  const consultation = { policy: quorumPolicy.parse(policy), invite: [], ...fields }
  await world()
    .store('resolution')
    .update(entityMatches, uid, ({ value }) => ({
      next: { ...value, rulings: [], asks: 1 as const, consult: consultation },
      answer: undefined,
    }))
  world().wakeWorker('resolution', 'consult')
  const match = await waitUntil(async () => {
    const found = await ann.ok(get, { uid })
    return found.rulings[0]?.status === 'failed' && found
  })
  return match.rulings[0]?.reason
}

describe('no session decides a match', () => {
  test('that it was not opened for, though it names it', async () => {
    const { uid } = await seedClusters()
    const subject = { kind: 'entity_match', left: 'x', right: 'y', correlation_id: uid }
    const session_input = { lens_id: 'lens', lens_version: '1', policy, classification: 'UNCLASSIFIED', subject }
    const { id } = await ann.ok(createSession, session_input)
    await ann.ok(contribute, { id, ...buildOpinionInput('one', 0.95) })
    const session = await waitUntil(async () => {
      const found = await ann.ok(getSession, { id })
      return found.undelivered === 0 && found
    })
    expect(session.undeliverable).toMatchObject([{ what: 'emission:ratified:resolution', code: 'forbidden' }])
    expect(await ann.ok(get, { uid })).toMatchObject({ state: 'proposed', rulings: [] })
  })

  test('of another tenant, nor by a caller without permission', async () => {
    const { uid } = await seedClusters()
    const expected = {
      ...{ correlation_id: uid, tenant_id: 'tenant-b', session_id: 'ses_1', seq: 3, event: 'ratified' as const },
      ...{ at: '2026-03-02T12:00:00.000Z', decision: 'match' as const },
    }
    expect(await ann.refusal(rule, expected)).toBe('forbidden')
    const bela = await world().as({ subject: 'bela', roles: ['admin'], tenant: 'tenant-b' })
    expect(await bela.refusal(rule, expected)).toBe('not_your_tenant')
    expect(await olga.refusal(rule, expected)).toBe('not_your_tenant')
    const subject = { kind: 'entity_match', left: 'x', right: 'y' }
    const label = { policy: 'SITE', level: 'UNCLASSIFIED', categories: [], originator: 'tenant-a' }
    const session = { id: `ses_${'0'.repeat(32)}`, tenant_id: 'tenant-a', label, subject, policy }
    expect(await bela.refusal(open, { ...session, lens_id: 'l', lens_version: '1' })).toBe('not_your_tenant')
  })
})

test('a run puts the matches between two scores to sessions for its requester, and another run opens no second one', async () => {
  await ann.ok(createLens, { body: buildPersonLens('1.0.0') })
  const consensus = { from: 0.5, to: 1, policy, invite: [] }
  const input = { lens_id: 'people', node_data: { east: buildPeople(0, 30), west: buildPeople(20, 50) }, consensus }
  const runs: string[] = []
  for (const headers of [{ 'idempotency-key': 'one' }, { 'idempotency-key': 'two' }]) {
    const { run_id } = await ann.ok(start, input, headers)
    runs.push(run_id)
    await waitUntil(async () => (await ann.ok(status, { run_id })).state === 'completed')
  }
  const isBetween = ({ score: { probability = 0 } }: MatchView) => probability >= 0.5
  const full = await waitUntil(async () => {
    const { items } = await ann.ok(matches, { run_id: runs[1], limit: 500 })
    const all = items.filter((item): item is MatchView => 'rulings' in item)
    return all.every((match) => match.rulings.length > 0 || !isBetween(match)) && all
  })
  const uncertain = full.filter(isBetween)
  expect(uncertain.length).toBeGreaterThanOrEqual(10)
  for (const match of full) {
    expect(match.rulings.map(({ status: each }) => each)).toEqual(isBetween(match) ? ['open'] : [])
  }
  const found = await waitUntil(async () => {
    const all = await ann.ok(sessions, { lens_id: full[0]?.lens_id, limit: 500 })
    return all.items.length >= uncertain.length && all.items
  })
  expect(found).toHaveLength(uncertain.length)
  expect([...new Set(found.map(({ created_by }) => created_by))]).toEqual(['ann'])
  // A record that arrives later, from whomever: the run's requester asked for sessions between these scores.
  const bela = await world().as({ subject: 'bela' })
  const [known] = buildPeople(5, 6)
  await bela.ok(arrive, { lens_id: 'people', node_id: 'north', records: [{ ...known, id: 'n1' }] })
  const later = await waitUntil(async () => {
    const all = await ann.ok(sessions, { lens_id: full[0]?.lens_id, limit: 500 })
    return all.items.length > uncertain.length && all.items
  })
  expect([...new Set(later.map(({ created_by }) => created_by))]).toEqual(['ann'])
})
