// A peer, bravo, that hosts a session and lies about it; this site, alpha, and charlie contribute to the session.
import { afterAll, beforeAll, expect } from 'vitest'
import { joseSignatures } from '../../../adapters/keys/jose/signatures.ts'
import { auditRecord } from '../../../daemon/kernel/audit/audit-chain.ts'
import type { Statement } from '../../../daemon/kernel/messaging/statement.ts'
import type { EvidenceContent2 } from '../../../daemon/roles/consensus/evidence/model.ts'
import { invite } from '../../../daemon/roles/consensus/federation/invite.ts'
import { result } from '../../../daemon/roles/consensus/federation/result.ts'
import { contribute } from '../../../daemon/roles/consensus/session/contribute.ts'
import { get } from '../../../daemon/roles/consensus/session/get.ts'
import type { FederationMessage } from '../../../daemon/shared/federation-message/federation-message.ts'
import type { QuorumPolicy } from '../../../daemon/shared/quorum-policy/quorum-policy.ts'
import type { CheckedClient } from '../../support/http/checked-client.ts'
import type { TestSite } from '../../support/site/test-site.ts'
import { buildOpinionInput, createOperator, startConsensusSite } from './consensus-site.ts'
import { createCarrier } from './federated-session.ts'
import {
  buildContent,
  type OriginSession,
  type QuotedContribution,
  quoteLocal,
  quoteMessage,
} from './origin-evidence.ts'
import { createPeerSite, type PeerSite, sharedClassification, sharedLabel } from './peer-site.ts'

/** The label of bravo's sessions. */
export const bravoLabel = { ...sharedLabel, originator: 'tenant-b' }
export const invitedPolicy: QuorumPolicy = {
  m: 3,
  n: 3,
  combination_method: 'weighted_average',
  ratify_threshold: 0.8,
  conflict_threshold: 0.5,
}

export type LyingSession = OriginSession & {
  readonly person: CheckedClient
  /** Of alpha, of charlie, and of a person at bravo, in this order. */
  readonly quoted: readonly [QuotedContribution, QuotedContribution, QuotedContribution]
  readonly honest: EvidenceContent2
}

/** The outcome that bravo sends about the session. */
export type Lie = (session: LyingSession, sites: LyingSites) => Promise<object> | object

export type LyingSites = {
  readonly alpha: PeerSite
  readonly bravo: PeerSite
  readonly charlie: PeerSite
  readonly world: TestSite
}

/** The sites of the tests of a file. */
export async function setUpLyingOrigin(): Promise<() => LyingSites> {
  const bravo = await createPeerSite('bravo', 'tenant-b')
  const charlie = await createPeerSite('charlie', 'tenant-c')
  let sites: LyingSites | undefined
  beforeAll(async () => {
    const world = await startConsensusSite({ contributors: ['c1'], peers: [bravo.pinned, charlie.pinned] })
    const { sign } = joseSignatures({ dir: world.folder.keys, now: () => world.clock.now() })
    sites = { alpha: { ...bravo, name: 'alpha', tenant_id: 'tenant-a', sign }, bravo, charlie, world }
  })
  afterAll(async () => {
    await sites?.world.end()
    bravo.remove()
    charlie.remove()
  })
  return () => {
    if (!sites) throw new Error('the sites have not been made')
    return sites
  }
}

/** The contribution of a site to a session of bravo; `by` is the site that signs. */
export async function sendToBravo(
  { bravo }: LyingSites,
  session_id: string,
  pair_score: number,
  { from, by = from, ...more }: { readonly from: PeerSite; readonly by?: PeerSite } & Partial<Statement>,
): Promise<FederationMessage> {
  const data = { session_id, pair_score, accuracy: 1, credibility: 1, classification: sharedLabel }
  const message = await bravo.message('contribution', data, {
    ...{ src: from.name, sender_tenant_id: from.tenant_id, dst: 'bravo', receiver_tenant_id: 'tenant-b' },
    channel: `filedrop/${from.name}/bravo`,
    ...more,
  })
  return { ...message, envelope: await by.sign('statement', Buffer.from(message.envelope.payload, 'base64url')) }
}

let count = 0

/** A session of bravo that alpha was invited to and has contributed to. */
export async function startLyingSession(sites: LyingSites, more: Partial<QuorumPolicy> = {}): Promise<LyingSession> {
  const { world, alpha, bravo, charlie } = sites
  const session_id = `ses_${String(++count).padStart(32, '0')}`
  const session = { session_id, policy: { ...invitedPolicy, ...more }, label: bravoLabel }
  const { policy, label: classification } = session
  const invitation = { session_id, lens_id: 'lens-b', lens_version: '1', policy, classification }
  await (await createCarrier(world)).ok(invite, await bravo.message('invitation', invitation))
  const person = await createOperator(world)
  const own = { id: session_id, ...buildOpinionInput('c1', 0.9), classification: sharedClassification }
  await person.ok(contribute, own)
  const quoted = [
    quoteMessage(await sendToBravo(sites, session_id, 0.9, { from: alpha })),
    quoteMessage(await sendToBravo(sites, session_id, 0.95, { from: charlie })),
    quoteLocal('b1', 1, bravoLabel),
  ] as const
  return { ...session, person, quoted, honest: buildContent(session, quoted) }
}

/** 200, or the code of the refusal. */
export async function deliverOutcome({ world, bravo }: LyingSites, session_id: string, outcome: object) {
  return (await createCarrier(world)).refusal(result, await bravo.message('result', { session_id, ...outcome }))
}

/** The session lists the fault, and the audit log names the peer. */
export async function expectAlarm(
  { world }: LyingSites,
  { session_id, person }: LyingSession,
  fault: RegExp,
  state = 'IN_CONFLICT',
): Promise<void> {
  const copy = await person.ok(get, { id: session_id })
  expect(copy.state).toBe(state)
  expect(copy.invalid_results?.at(-1)?.faults.join('; ')).toMatch(fault)
  if (state === 'IN_CONFLICT') expect(copy.reason).toBe('invalid_result')
  const { token } = await world.as({ subject: 'role:site', roles: ['admin'], tenant: '*' })
  const path = `/api/v2/audit?target=${session_id}&action=consensus.federation.invalid_result`
  const { json } = await world.call('consensus', 'GET', path, undefined, { token })
  const [record] = (json as { items: unknown[] }).items.map((item) => auditRecord.parse(item))
  expect(record?.event).toMatchObject({ outcome: 'refused', detail: { peer: 'bravo', to: state } })
}
