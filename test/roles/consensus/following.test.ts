// A session that lives at a peer: the copy here is told to exist, speaks with one voice, and only follows.
import { afterAll, expect, test } from 'vitest'
import type { MessageKind, Statement } from '../../../daemon/kernel/transport.ts'
import { decide } from '../../../daemon/roles/consensus/combine/decide.ts'
import { dissent as dissentBody } from '../../../daemon/roles/consensus/combine/dissent.ts'
import { list as recordOf } from '../../../daemon/roles/consensus/contribution/list.ts'
import { bySession } from '../../../daemon/roles/consensus/dissent/by-session.ts'
import { get as evidenceOf } from '../../../daemon/roles/consensus/evidence/get.ts'
import type { EvidenceBlock, EvidenceContent } from '../../../daemon/roles/consensus/evidence/model.ts'
import { blockIdOf, signedPart } from '../../../daemon/roles/consensus/evidence/rules.ts'
import { contribute as federate } from '../../../daemon/roles/consensus/federation/contribute.ts'
import { invite } from '../../../daemon/roles/consensus/federation/invite.ts'
import { result } from '../../../daemon/roles/consensus/federation/result.ts'
import { attest } from '../../../daemon/roles/consensus/session/attest.ts'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { resolve } from '../../../daemon/roles/consensus/session/resolve.ts'
import { opinionsOf } from '../../support/opinions.ts'
import { noon } from '../../support/simulated-clock.ts'
import { delivered, operatorOf, opinion, sharedWorld } from './consensus-world.ts'
import { peerSite, shared, sharedLabel } from './peer-messages.ts'

const bravo = await peerSite('bravo', 'tenant-b')
const charlie = await peerSite('charlie', 'tenant-c')
afterAll(() => {
  bravo.remove()
  charlie.remove()
})
const world = sharedWorld(() => ({ contributors: ['c1', 'c2'], peers: [bravo.pinned, charlie.pinned] }))

const at = new Date(noon).toISOString()
const label = { ...sharedLabel, originator: 'tenant-b' }
const policy = {
  m: 2,
  n: 2,
  combination_method: 'weighted_average' as const,
  ratify_threshold: 0.8,
  conflict_threshold: 0.5,
}
let count = 0

const service = () => world().as({ subject: 'role:site', roles: ['service'], tenant: '*' })
const signed = (kind: MessageKind, fields: Record<string, unknown>, peer = bravo, said: Partial<Statement> = {}) =>
  peer.message(kind, fields, said)

async function invitedByBravo(): Promise<string> {
  const session_id = `ses_${String(++count).padStart(32, '0')}`
  const fields = { session_id, lens_id: 'lens-b', lens_version: '1', policy, classification: label }
  await (await service()).ok(invite, await signed('invitation', fields))
  return session_id
}

/** 200, or the code of the refusal. */
const outcome = async (session_id: string, what: object, peer = bravo, said: Partial<Statement> = {}) =>
  (await service()).refusal(result, await signed('result', { session_id, ...what }, peer, said))

function torn(session_id: string, id = `dis_${session_id}`) {
  const opinions = opinionsOf([0], [1])
  const decision = decide(policy, opinions)
  if (decision.state !== 'IN_CONFLICT') throw new Error('two camps at the extremes are in conflict')
  const body = dissentBody(policy, opinions, decision)
  return { dissent: { id, session_id, lens_id: 'lens-b', created_at: at, status: 'open' as const, body } }
}

async function proven(session_id: string, by = bravo, site = 'bravo'): Promise<{ evidence: EvidenceBlock }> {
  const opinions = opinionsOf([0.9], [1])
  const content: EvidenceContent = {
    v: 1,
    type: 'platform.evidence',
    site,
    tenant_id: 'tenant-b',
    session_id,
    lens_id: 'lens-b',
    lens_version: '1',
    policy,
    label,
    contributions: [],
    record: { contributions: 2, chain: 'c' },
    result: decide(policy, opinions).combination,
    decision: 'match',
    parent_block_ids: [],
    decided_at: at,
  }
  const block_id = blockIdOf(content)
  const signature = await by.sign('evidence', signedPart(site, block_id))
  return { evidence: { block_id, content, signature, keys: by.pinned.keys } }
}

const retracted = { retraction: { at, was: 'RATIFIED' as const } }

test('an invitation makes the copy, once; the same id for another session is refused', async () => {
  const person = await operatorOf(world())
  const session_id = await invitedByBravo()
  const copy = await person.ok(get, { id: session_id })
  expect(copy).toMatchObject({
    state: 'PROPOSED',
    tenant_id: 'tenant-a',
    origin: { peer: 'bravo', tenant_id: 'tenant-b' },
    history: [{ trigger: 'invitation', by: 'peer:bravo' }],
  })
  const fields = { session_id, lens_id: 'lens-b', lens_version: '1', policy, classification: label }
  expect((await (await service()).ok(invite, await signed('invitation', fields))).version).toBe(copy.version)
  const other = await signed('invitation', { ...fields, lens_id: 'lens-x' })
  expect(await (await service()).refusal(invite, other)).toBe('already_exists')
  const foreign = await signed('invitation', fields, charlie)
  expect(await (await service()).refusal(invite, foreign)).toBe('already_exists')
})

test('an invitation into a label that its message does not carry makes nothing', async () => {
  const session_id = 'ses_mislabelled'
  const fields = { session_id, lens_id: 'lens-b', lens_version: '1', policy }
  for (const wrong of [{ level: 'SECRET' }, { policy: 'NATO' }, { releasable_to: ['tenant-b'] }]) {
    const sent = await signed('invitation', { ...fields, classification: { ...label, ...wrong } })
    expect(await (await service()).refusal(invite, sent)).toBe('label_denied')
  }
  for (const kind of [
    { ...fields, classification: label },
    { session_id, ...retracted },
  ]) {
    expect(await (await service()).refusal(invite, kind as never)).toBe('invalid')
    expect(await (await service()).refusal(result, kind as never)).toBe('invalid')
  }
  expect(await (await operatorOf(world())).refusal(get, { id: session_id })).toBe('not_found')
})

test('whoever speaks here speaks with the site’s one voice, and decides nothing', async () => {
  const person = await operatorOf(world())
  const id = await invitedByBravo()
  await person.ok(contribute, { id, ...opinion('c1', 0.9), classification: shared })
  const session = await person.ok(contribute, { id, ...opinion('c2', 0.8), classification: shared })
  expect(session).toMatchObject({ state: 'PENDING_QUORUM', contributors: 1, contributions: 2 })
  const { items } = await person.ok(recordOf, { id })
  expect(items.map(({ contributor_id, standing }) => [contributor_id, standing])).toEqual([
    ['tenant-a', false],
    ['tenant-a', true],
  ])
  await delivered(person, id)
  expect(await person.refusal(resolve, { id })).toBe('session_closed')
  expect(await person.refusal(attest, { id, decision: 'match', rationale: 'mine' })).toBe('session_closed')
  expect(await person.refusal(cancel, { id })).toBe('session_closed')
  const fields = { session_id: id, pair_score: 1, accuracy: 1, credibility: 1, classification: label }
  expect(await (await service()).refusal(federate, await signed('contribution', fields))).toBe('session_closed')
})

test('the copy follows a dissent, then the evidence that settles it, then the retraction', async () => {
  const person = await operatorOf(world())
  const id = await invitedByBravo()
  expect(await outcome(id, torn(id))).toBe(200)
  expect(await person.ok(get, { id })).toMatchObject({
    state: 'IN_CONFLICT',
    reason: 'conflict',
    open_dissent_id: `dis_${id}@bravo`,
  })
  const given = await proven(id)
  expect(await outcome(id, given)).toBe(200)
  const settled = await delivered(person, id)
  expect(settled).toMatchObject({ state: 'RATIFIED', decision: 'match', evidence_block_id: given.evidence.block_id })
  expect(settled.open_dissent_id).toBeUndefined()
  expect((await person.ok(bySession, { session_id: id })).items).toMatchObject([
    { status: 'resolved', resolution: 'ratified' },
  ])
  expect(await person.ok(evidenceOf, { block_id: given.evidence.block_id })).toEqual(given.evidence)
  expect(await outcome(id, retracted)).toBe(200)
  expect(await outcome(id, given)).toBe(200)
  const { history } = await person.ok(get, { id })
  expect(history.map(({ to }) => to)).toEqual(['PROPOSED', 'IN_CONFLICT', 'RATIFIED', 'WITHDRAWN'])
})

test('a dissent that arrives after its settlement is kept as settled, and changes no state', async () => {
  const person = await operatorOf(world())
  const id = await invitedByBravo()
  expect(await outcome(id, await proven(id))).toBe(200)
  expect(await outcome(id, torn(id))).toBe(200)
  expect((await person.ok(get, { id })).state).toBe('RATIFIED')
  expect((await person.ok(bySession, { session_id: id })).items).toMatchObject([
    { status: 'resolved', resolution: 'ratified' },
  ])
})

test('a renewed dissent takes the place of the one before, which does not come back when it is told again', async () => {
  const person = await operatorOf(world())
  const id = await invitedByBravo()
  expect(await outcome(id, torn(id, `dis_1${id}`))).toBe(200)
  expect(await outcome(id, torn(id, `dis_2${id}`))).toBe(200)
  expect(await outcome(id, torn(id, `dis_1${id}`))).toBe(200)
  const copy = await delivered(person, id)
  expect(copy.history.map(({ to }) => to)).toEqual(['PROPOSED', 'IN_CONFLICT'])
  expect(copy.open_dissent_id).toBe(`dis_2${id}@bravo`)
  const { items } = await person.ok(bySession, { session_id: id })
  expect(Object.fromEntries(items.map((item) => [item.id, item.resolution]))).toEqual({
    [`dis_1${id}@bravo`]: 'superseded',
    [`dis_2${id}@bravo`]: undefined,
  })
})

test('an outcome counts only from the peer that the session lives at, and only if it holds together', async () => {
  const person = await operatorOf(world())
  const id = await invitedByBravo()
  expect(await outcome(id, retracted, charlie)).toBe('not_your_tenant')
  expect(await outcome(id, retracted, bravo, { receiver_tenant_id: 'tenant-z' })).toBe('not_your_tenant')
  const { evidence } = await proven(id)
  const bent = { ...evidence, content: { ...evidence.content, decision: 'non_match' } }
  expect(await outcome(id, { evidence: bent })).toBe('signature_invalid')
  const elsewhere = await proven('ses_other')
  expect(await outcome(id, elsewhere)).toBe('signature_invalid')
  expect(await person.ok(get, { id })).toMatchObject({ state: 'PROPOSED', version: 1 })
})

test('evidence counts only as signed by a pinned key of the origin, and in its name', async () => {
  const person = await operatorOf(world())
  const id = await invitedByBravo()
  expect(await outcome(id, await proven(id, charlie))).toBe('signature_invalid')
  expect(await outcome(id, await proven(id, bravo, 'charlie'))).toBe('signature_invalid')
  expect(await person.ok(get, { id })).toMatchObject({ state: 'PROPOSED', version: 1 })
})

test('a ratified copy takes no other evidence', async () => {
  const person = await operatorOf(world())
  const id = await invitedByBravo()
  const { evidence } = await proven(id)
  expect(await outcome(id, { evidence })).toBe(200)
  const content: EvidenceContent = { ...evidence.content, decision: 'non_match' }
  const block_id = blockIdOf(content)
  const signature = await bravo.sign('evidence', signedPart('bravo', block_id))
  expect(await outcome(id, { evidence: { ...evidence, block_id, content, signature } })).toBe('signature_invalid')
  expect(await person.ok(get, { id })).toMatchObject({ decision: 'match', evidence_block_id: evidence.block_id })
})

test('what the origin has narrowed since its invitation is shown to no more people here than that', async () => {
  const person = await operatorOf(world())
  const cleared = await world().as({ roles: ['operator'], clearance: { level: 'SECRET' } })
  const id = await invitedByBravo()
  const higher = { ...label, level: 'SECRET', releasable_to: ['tenant-a', 'tenant-b'] }
  expect(await outcome(id, torn(id), bravo, { label: higher })).toBe(200)
  const low = await world().as({ roles: ['operator'], clearance: { level: 'UNCLASSIFIED' } })
  expect([await low.refusal(get, { id }), await low.refusal(bySession, { session_id: id })]).toEqual([
    'not_found',
    'not_found',
  ])
  const copy = await cleared.ok(get, { id })
  expect(copy.classification).toMatchObject({ level: 'SECRET', releasable_to: ['tenant-a', 'tenant-b'] })
  expect((await cleared.ok(bySession, { session_id: id })).items).toHaveLength(1)
  expect(await person.refusal(get, { id })).toBe(200)
})
