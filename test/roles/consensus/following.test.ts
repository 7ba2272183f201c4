// A session that a peer hosts: the copy here is created by invitation, has one vote, and only follows its origin.
import { afterAll, expect, test } from 'vitest'
import type { MessageKind } from '../../../daemon/kernel/messaging/message-kind.ts'
import type { Statement } from '../../../daemon/kernel/messaging/statement.ts'
import { decide } from '../../../daemon/roles/consensus/combine/decide.ts'
import { list as recordOf } from '../../../daemon/roles/consensus/contribution/list.ts'
import { bySession } from '../../../daemon/roles/consensus/dissent/by-session.ts'
import { get as evidenceOf } from '../../../daemon/roles/consensus/evidence/get.ts'
import type { EvidenceBlock } from '../../../daemon/roles/consensus/evidence/model.ts'
import { contribute as federate } from '../../../daemon/roles/consensus/federation/contribute.ts'
import { invite } from '../../../daemon/roles/consensus/federation/invite.ts'
import { result } from '../../../daemon/roles/consensus/federation/result.ts'
import { attest } from '../../../daemon/roles/consensus/session/attest.ts'
import { cancel } from '../../../daemon/roles/consensus/session/cancel.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import { resolve } from '../../../daemon/roles/consensus/session/resolve.ts'
import { isReservedFor, originId } from '../../../daemon/shared/origin-id/origin-id.ts'
import { noon } from '../../support/clock/simulated-clock.ts'
import { buildDissent as dissentBody } from '../../support/consensus/build-dissent.ts'
import { buildOpinions } from '../../support/consensus/opinions.ts'
import {
  buildOpinionInput,
  createOperator,
  openSession,
  setUpConsensusSite,
  waitUntilDelivered,
} from './consensus-site.ts'
import { buildContent, quoteLocal, signBlock } from './origin-evidence.ts'
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

const dissentIdOf = (session_id: string, first = '0') => `dis_${first}${session_id.slice(5)}`

function buildDissent(session_id: string, id = dissentIdOf(session_id)) {
  const opinions = buildOpinions([0], [1])
  const decision = decide(policy, opinions)
  if (decision.state !== 'IN_CONFLICT') throw new Error('two contributors at the extremes are in conflict')
  const body = dissentBody(policy, opinions, decision)
  return { dissent: { id, session_id, lens_id: 'lens-b', created_at: at, status: 'open' as const, body } }
}

/** Over two people of bravo, who agree. */
async function buildEvidence(session_id: string): Promise<{ evidence: EvidenceBlock }> {
  const content = buildContent({ session_id, policy, label }, [
    quoteLocal('b1', 0.9, label),
    quoteLocal('b2', 1, label),
  ])
  return { evidence: await signBlock(bravo, content) }
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
  const foreign = [originId('ses', 'alpha', digits), originId('ses', 'charlie', digits)]
  const malformed = ['ses_1', `${originId('ses', 'bravo', digits)}@alpha`, '../session', 'ses_\u001b[2J']
  for (const session_id of [...foreign, ...malformed]) {
    const sent = await signByPeer('invitation', { session_id, ...invitation })
    expect(await (await createServiceCaller()).refusal(invite, sent)).toBe('invalid')
    expect(await person.refusal(get, { id: session_id })).toBe('not_found')
  }
  const own = await signByPeer('invitation', { session_id: originId('ses', 'bravo', digits), ...invitation })
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
    open_dissent_id: `${dissentIdOf(id)}@bravo`,
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
  expect(await deliverResult(id, buildDissent(id, dissentIdOf(id, '1')))).toBe(200)
  expect(await deliverResult(id, buildDissent(id, dissentIdOf(id, '2')))).toBe(200)
  expect(await deliverResult(id, buildDissent(id, dissentIdOf(id, '1')))).toBe(200)
  const copy = await waitUntilDelivered(person, id)
  expect(copy.history.map(({ to }) => to)).toEqual(['PROPOSED', 'IN_CONFLICT'])
  expect(copy.open_dissent_id).toBe(`${dissentIdOf(id, '2')}@bravo`)
  const { items } = await person.ok(bySession, { session_id: id })
  expect(Object.fromEntries(items.map((item) => [item.id, item.resolution]))).toEqual({
    [`${dissentIdOf(id, '1')}@bravo`]: 'superseded',
    [`${dissentIdOf(id, '2')}@bravo`]: undefined,
  })
})

test('an outcome counts only from the peer that hosts the session', async () => {
  const person = await createOperator(world())
  const id = await acceptBravoInvitation()
  expect(await deliverResult(id, retractedResult, charlie)).toBe('not_your_tenant')
  expect(await deliverResult(id, retractedResult, bravo, { receiver_tenant_id: 'tenant-z' })).toBe('not_your_tenant')
  expect(await person.ok(get, { id })).toMatchObject({ state: 'PROPOSED', version: 1 })
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
