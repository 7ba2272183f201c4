// A session that a peer hosts: the copy here is created by invitation, has one vote, and only follows its origin.
import { afterAll, expect, test } from 'vitest'
import type { MessageKind, Statement } from '../../../daemon/kernel/messaging/statement.ts'
import { decide } from '../../../daemon/roles/consensus/combine/decide.ts'
import { buildDissent as dissentBody } from '../../../daemon/roles/consensus/combine/dissent.ts'
import { list as recordOf } from '../../../daemon/roles/consensus/contribution/list.ts'
import { bySession } from '../../../daemon/roles/consensus/dissent/by-session.ts'
import { get as evidenceOf } from '../../../daemon/roles/consensus/evidence/get.ts'
import type { EvidenceBlock, EvidenceContent } from '../../../daemon/roles/consensus/evidence/model.ts'
import { blockIdOf, signedBytes } from '../../../daemon/roles/consensus/evidence/rules.ts'
import { contribute as federate } from '../../../daemon/roles/consensus/federation/contribute.ts'
import { invite } from '../../../daemon/roles/consensus/federation/invite.ts'
import { result } from '../../../daemon/roles/consensus/federation/result.ts'
import { attest } from '../../../daemon/roles/consensus/session/attest.ts'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { resolve } from '../../../daemon/roles/consensus/session/resolve.ts'
import { hostedSessionId, isReservedFor } from '../../../daemon/shared/match-session/session-id.ts'
import { noon } from '../../support/clock/simulated-clock.ts'
import { buildOpinions } from '../../support/consensus/opinions.ts'
import {
  buildOpinionInput,
  createOperator,
  openSession,
  setUpConsensusSite,
  waitUntilDelivered,
} from './consensus-site.ts'
import { createPeerSite, sharedClassification, sharedLabel } from './peer-site.ts'

const bravo = await createPeerSite('bravo', 'tenant-b')
const charlie = await createPeerSite('charlie', 'tenant-c')
afterAll(() => {
  bravo.remove()
  charlie.remove()
})
const world = setUpConsensusSite(() => ({ contributors: ['c1', 'c2'], peers: [bravo.pinned, charlie.pinned] }))

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

const createServiceCaller = () => world().as({ subject: 'role:site', roles: ['service'], tenant: '*' })
const signByPeer = (
  kind: MessageKind,
  fields: Record<string, unknown>,
  peer = bravo,
  changes: Partial<Statement> = {},
) => peer.message(kind, fields, changes)

async function acceptBravoInvitation(): Promise<string> {
  const session_id = `ses_${String(++count).padStart(32, '0')}`
  const fields = { session_id, lens_id: 'lens-b', lens_version: '1', policy, classification: label }
  await (await createServiceCaller()).ok(invite, await signByPeer('invitation', fields))
  return session_id
}

/** 200, or the code of the refusal. */
const deliverResult = async (session_id: string, what: object, peer = bravo, changes: Partial<Statement> = {}) =>
  (await createServiceCaller()).refusal(result, await signByPeer('result', { session_id, ...what }, peer, changes))

function buildDissent(session_id: string, id = `dis_${session_id}`) {
  const opinions = buildOpinions([0], [1])
  const decision = decide(policy, opinions)
  if (decision.state !== 'IN_CONFLICT') throw new Error('two contributors at the extremes are in conflict')
  const body = dissentBody(policy, opinions, decision)
  return { dissent: { id, session_id, lens_id: 'lens-b', created_at: at, status: 'open' as const, body } }
}

async function buildEvidence(session_id: string, by = bravo, site = 'bravo'): Promise<{ evidence: EvidenceBlock }> {
  const opinions = buildOpinions([0.9], [1])
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
  const signature = await by.sign('evidence', signedBytes(site, block_id))
  return { evidence: { block_id, content, signature, keys: by.pinned.keys } }
}

const retractedResult = { retraction: { at, was: 'RATIFIED' as const } }

test('an invitation makes the copy, once; the same id for another session is refused', async () => {
  const person = await createOperator(world())
  const session_id = await acceptBravoInvitation()
  const copy = await person.ok(get, { id: session_id })
  expect(copy).toMatchObject({
    state: 'PROPOSED',
    tenant_id: 'tenant-a',
    origin: { peer: 'bravo', tenant_id: 'tenant-b' },
    history: [{ trigger: 'invitation', by: 'peer:bravo' }],
  })
  const fields = { session_id, lens_id: 'lens-b', lens_version: '1', policy, classification: label }
  expect((await (await createServiceCaller()).ok(invite, await signByPeer('invitation', fields))).version).toBe(
    copy.version,
  )
  const other = await signByPeer('invitation', { ...fields, lens_id: 'lens-x' })
  expect(await (await createServiceCaller()).refusal(invite, other)).toBe('already_exists')
  const foreign = await signByPeer('invitation', fields, charlie)
  expect(await (await createServiceCaller()).refusal(invite, foreign)).toBe('already_exists')
})

test('an invitation under an id that another site may make is refused, and so is one of another form', async () => {
  const person = await createOperator(world())
  const digits = 'ab'.repeat(12)
  const invitation = { lens_id: 'lens-b', lens_version: '1', policy, classification: label }
  const foreign = [hostedSessionId('alpha', digits), hostedSessionId('charlie', digits)]
  const malformed = ['ses_1', `${hostedSessionId('bravo', digits)}@alpha`, '../session', 'ses_\u001b[2J']
  for (const session_id of [...foreign, ...malformed]) {
    const sent = await signByPeer('invitation', { session_id, ...invitation })
    expect(await (await createServiceCaller()).refusal(invite, sent)).toBe('invalid')
    expect(await person.refusal(get, { id: session_id })).toBe('not_found')
  }
  const own = await signByPeer('invitation', { session_id: hostedSessionId('bravo', digits), ...invitation })
  expect(await (await createServiceCaller()).refusal(invite, own)).toBe(200)
})

test('a session of this site has an id that no peer may make', async () => {
  const { id } = await openSession(await createOperator(world()), { m: 1, n: 1 })
  expect(isReservedFor('alpha', id)).toBe(true)
})

test('an invitation into a label that its message does not carry makes nothing', async () => {
  const session_id = 'ses_1dea52721ae99f241401c4c523b5821e'
  const fields = { session_id, lens_id: 'lens-b', lens_version: '1', policy }
  for (const wrong of [{ level: 'SECRET' }, { policy: 'NATO' }, { releasable_to: ['tenant-b'] }]) {
    const sent = await signByPeer('invitation', { ...fields, classification: { ...label, ...wrong } })
    expect(await (await createServiceCaller()).refusal(invite, sent)).toBe('label_denied')
  }
  for (const kind of [
    { ...fields, classification: label },
    { session_id, ...retractedResult },
  ]) {
    expect(await (await createServiceCaller()).refusal(invite, kind as never)).toBe('invalid')
    expect(await (await createServiceCaller()).refusal(result, kind as never)).toBe('invalid')
  }
  expect(await (await createOperator(world())).refusal(get, { id: session_id })).toBe('not_found')
})

test('every contributor here is the site’s one voice, and decides nothing', async () => {
  const person = await createOperator(world())
  const id = await acceptBravoInvitation()
  await person.ok(contribute, { id, ...buildOpinionInput('c1', 0.9), classification: sharedClassification })
  const session = await person.ok(contribute, {
    id,
    ...buildOpinionInput('c2', 0.8),
    classification: sharedClassification,
  })
  expect(session).toMatchObject({ state: 'PENDING_QUORUM', contributors: 1, contributions: 2 })
  const { items } = await person.ok(recordOf, { id })
  expect(items.map(({ contributor_id, standing }) => [contributor_id, standing])).toEqual([
    ['tenant-a', false],
    ['tenant-a', true],
  ])
  await waitUntilDelivered(person, id)
  expect(await person.refusal(resolve, { id })).toBe('session_closed')
  expect(await person.refusal(attest, { id, decision: 'match', rationale: 'mine' })).toBe('session_closed')
  expect(await person.refusal(cancel, { id })).toBe('session_closed')
  const fields = { session_id: id, pair_score: 1, accuracy: 1, credibility: 1, classification: label }
  expect(await (await createServiceCaller()).refusal(federate, await signByPeer('contribution', fields))).toBe(
    'session_closed',
  )
})

test('the copy follows a dissent, then the evidence that settles it, then the retraction', async () => {
  const person = await createOperator(world())
  const id = await acceptBravoInvitation()
  expect(await deliverResult(id, buildDissent(id))).toBe(200)
  expect(await person.ok(get, { id })).toMatchObject({
    state: 'IN_CONFLICT',
    reason: 'conflict',
    open_dissent_id: `dis_${id}@bravo`,
  })
  const sent = await buildEvidence(id)
  expect(await deliverResult(id, sent)).toBe(200)
  const settled = await waitUntilDelivered(person, id)
  expect(settled).toMatchObject({ state: 'RATIFIED', decision: 'match', evidence_block_id: sent.evidence.block_id })
  expect(settled.open_dissent_id).toBeUndefined()
  expect((await person.ok(bySession, { session_id: id })).items).toMatchObject([
    { status: 'resolved', resolution: 'ratified' },
  ])
  expect(await person.ok(evidenceOf, { block_id: sent.evidence.block_id })).toEqual(sent.evidence)
  expect(await deliverResult(id, retractedResult)).toBe(200)
  expect(await deliverResult(id, sent)).toBe(200)
  const { history } = await person.ok(get, { id })
  expect(history.map(({ to }) => to)).toEqual(['PROPOSED', 'IN_CONFLICT', 'RATIFIED', 'WITHDRAWN'])
})

test('stores a dissent that arrives after its settlement as settled, and changes no state', async () => {
  const person = await createOperator(world())
  const id = await acceptBravoInvitation()
  expect(await deliverResult(id, await buildEvidence(id))).toBe(200)
  expect(await deliverResult(id, buildDissent(id))).toBe(200)
  expect((await person.ok(get, { id })).state).toBe('RATIFIED')
  expect((await person.ok(bySession, { session_id: id })).items).toMatchObject([
    { status: 'resolved', resolution: 'ratified' },
  ])
})

test('a renewed dissent replaces the earlier one, which does not return with a repeat', async () => {
  const person = await createOperator(world())
  const id = await acceptBravoInvitation()
  expect(await deliverResult(id, buildDissent(id, `dis_1${id}`))).toBe(200)
  expect(await deliverResult(id, buildDissent(id, `dis_2${id}`))).toBe(200)
  expect(await deliverResult(id, buildDissent(id, `dis_1${id}`))).toBe(200)
  const copy = await waitUntilDelivered(person, id)
  expect(copy.history.map(({ to }) => to)).toEqual(['PROPOSED', 'IN_CONFLICT'])
  expect(copy.open_dissent_id).toBe(`dis_2${id}@bravo`)
  const { items } = await person.ok(bySession, { session_id: id })
  expect(Object.fromEntries(items.map((item) => [item.id, item.resolution]))).toEqual({
    [`dis_1${id}@bravo`]: 'superseded',
    [`dis_2${id}@bravo`]: undefined,
  })
})

test('an outcome counts only from the peer that the session lives at, and only if it holds together', async () => {
  const person = await createOperator(world())
  const id = await acceptBravoInvitation()
  expect(await deliverResult(id, retractedResult, charlie)).toBe('not_your_tenant')
  expect(await deliverResult(id, retractedResult, bravo, { receiver_tenant_id: 'tenant-z' })).toBe('not_your_tenant')
  const { evidence } = await buildEvidence(id)
  const bent = { ...evidence, content: { ...evidence.content, decision: 'non_match' } }
  expect(await deliverResult(id, { evidence: bent })).toBe('signature_invalid')
  const elsewhere = await buildEvidence('ses_73321b0567f63328d3cc5bc436e22727')
  expect(await deliverResult(id, elsewhere)).toBe('signature_invalid')
  expect(await person.ok(get, { id })).toMatchObject({ state: 'PROPOSED', version: 1 })
})

test('evidence counts only as signed by a pinned key of the origin, and in its name', async () => {
  const person = await createOperator(world())
  const id = await acceptBravoInvitation()
  expect(await deliverResult(id, await buildEvidence(id, charlie))).toBe('signature_invalid')
  expect(await deliverResult(id, await buildEvidence(id, bravo, 'charlie'))).toBe('signature_invalid')
  expect(await person.ok(get, { id })).toMatchObject({ state: 'PROPOSED', version: 1 })
})

test('a ratified copy takes no other evidence', async () => {
  const person = await createOperator(world())
  const id = await acceptBravoInvitation()
  const { evidence } = await buildEvidence(id)
  expect(await deliverResult(id, { evidence })).toBe(200)
  const content: EvidenceContent = { ...evidence.content, decision: 'non_match' }
  const block_id = blockIdOf(content)
  const signature = await bravo.sign('evidence', signedBytes('bravo', block_id))
  expect(await deliverResult(id, { evidence: { ...evidence, block_id, content, signature } })).toBe('signature_invalid')
  expect(await person.ok(get, { id })).toMatchObject({ decision: 'match', evidence_block_id: evidence.block_id })
})

test('shows content that the origin has narrowed since its invitation to no more people here than that', async () => {
  const person = await createOperator(world())
  const cleared = await world().as({ roles: ['operator'], clearance: { level: 'SECRET' } })
  const id = await acceptBravoInvitation()
  const higher = { ...label, level: 'SECRET', releasable_to: ['tenant-a', 'tenant-b'] }
  expect(await deliverResult(id, buildDissent(id), bravo, { label: higher })).toBe(200)
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
