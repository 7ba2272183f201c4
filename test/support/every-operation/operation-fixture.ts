// The objects that a walk over all operations needs: one session in each state, all of them SECRET and of tenant alpha.
import { randomBytes } from 'node:crypto'
import { expect, vi } from 'vitest'
import type { Signatures } from '../../../daemon/kernel/cryptography/signatures.ts'
import { canonicalJson, sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { MessageKind } from '../../../daemon/kernel/messaging/message-kind.ts'
import { statement } from '../../../daemon/kernel/messaging/statement.ts'
import { everyRoleSections, type SingleClusterSite, startSingleClusterSite } from '../site/single-cluster-site.ts'
import { gatewaySettings, guardrailSettings } from './gateway-samples.ts'
import { createIntelligenceFixture, type IntelligenceFixture } from './intelligence-objects.ts'
import { createResolutionFixture, type ResolutionFixture } from './resolution-objects.ts'

export const secretClassification = { level: 'SECRET', releasable_to: ['alpha', 'bravo'] }
export const secretLabel = { policy: 'SITE', ...secretClassification, categories: [], originator: 'alpha' }
export const sessionPolicy = { m: 2, n: 2, ratify_threshold: 0.8, conflict_threshold: 0.5 }

type RequestFields = Readonly<Record<string, unknown>>
/** `change` replaces parts of the signed statement. */
type SignMessage = (
  kind: MessageKind,
  fields: RequestFields,
  change?: RequestFields,
) => Promise<Record<string, unknown>>

export type OperationFixture = {
  readonly site: SingleClusterSite
  /** Everything permitted, cleared for all, of tenant alpha. */
  readonly admin: string
  /** A role of the site, which has secrets of its own. */
  readonly service: string
  /** The site role, as which carriers deliver what has passed the checks of its channel. */
  readonly carrier: string
  /** Sessions by what became of them. */
  readonly open: string
  readonly toCancel: string
  readonly conflict: string
  /** More of the same, for requests that are repeated. */
  readonly openToo: string
  readonly conflictToo: string
  readonly ratified: string
  /** Open, with the peer bravo invited. */
  readonly shared: string
  /** Lives at bravo. */
  readonly followed: string
  readonly dissent: string
  readonly evidence: string
  /** Bravo's decision in a session of its own. */
  readonly emission: string
  readonly resolution: ResolutionFixture
  readonly intelligence: IntelligenceFixture
  /** The signed message that bravo would have sent these fields in. */
  signMessage: SignMessage
}

export const topSecretClearance = { clearance: { level: 'TOP_SECRET' } }

/** The walker over the operations is both nodes of the coalition, one of which has joined. */
const hubSettings = {
  ...everyRoleSections.hub,
  mailbox_messages: 1,
  nodes: { alpha: { subject: 'ada' }, bravo: { subject: 'ada' } },
}

/** `sections` are merged into the profile. */
export async function createOperationFixture(
  sections: Parameters<typeof startSingleClusterSite>[0] = {},
): Promise<OperationFixture> {
  const { platform, ...more } = sections
  const every = {
    ...everyRoleSections,
    hub: hubSettings,
    gateway: gatewaySettings,
    guardrails: guardrailSettings,
    ...more,
  }
  const site = await startSingleClusterSite({ ...every, platform: { ...everyRoleSections.platform, ...platform } })
  const admin = await site.token({ roles: ['admin'], ...topSecretClearance })
  const carrier = await site.token({ sub: 'role:site', tenant_id: '*', roles: ['service'] })
  const delivered: SignMessage = (kind, fields, change = {}) => signAsBravo(site, kind, fields, change)
  const post = async (path: string, body: unknown) => {
    const token = path.includes('/federation/') ? carrier : admin
    const { status, text } = await site.request('consensus', { method: 'POST', path, token, body })
    expect([200, 201], text).toContain(status)
    return JSON.parse(text) as { id: string; state: string }
  }
  const session = async (more: RequestFields = {}) =>
    (await post('/api/v2/consensus/session', buildSessionInput(more))).id
  const contribute = (id: string, who: string, pair_score: number) =>
    post(`/api/v2/consensus/session/${id}/contribution`, buildContribution(who, pair_score))
  await registerNode(site, admin)
  const ratified = await session()
  for (const who of ['alice', 'bob']) await contribute(ratified, who, 1)
  const conflicting = async () => {
    const id = await session()
    await contribute(id, 'alice', 1)
    await contribute(id, 'bob', 0)
    return id
  }
  const conflict = await conflicting()
  const conflictToo = await conflicting()
  const followed = `ses_${randomBytes(16).toString('hex')}`
  await post('/api/v2/federation/invitation', await delivered('invitation', buildInvitation(followed)))
  const emission = (
    await post(
      '/api/v2/federation/lens_emission',
      await delivered('lens_emission', buildEmission('ses_bba2cf1bb3aaa221574da9af651c0130')),
    )
  ).id
  const shared = await session({ policy: { ...sessionPolicy, m: 3, n: 3 }, invite: ['bravo'] })
  const settled = async (id: string, field: string) => {
    const read = async () =>
      (await site.request('consensus', { method: 'GET', path: `/api/v2/consensus/session/${id}`, token: admin }))
        .json as Record<string, unknown>
    await vi.waitFor(async () => expect((await read()).undelivered).toBe(0), { timeout: 60_000 })
    return String((await read())[field])
  }
  await settled(shared, 'state')
  return {
    site,
    admin,
    service: await site.token({ sub: 'role:resolution', tenant_id: '*', roles: ['service'] }),
    carrier,
    open: await session(),
    openToo: await session(),
    toCancel: await session(),
    shared,
    ratified,
    conflict,
    conflictToo,
    followed,
    evidence: await settled(ratified, 'evidence_block_id'),
    dissent: await settled(conflict, 'open_dissent_id'),
    emission,
    resolution: await createResolutionFixture(site, admin, async (data) => {
      const body = await delivered('resolution', data)
      const path = '/api/v2/federation/resolution'
      const { status, text } = await site.request('resolution', { method: 'POST', path, token: carrier, body })
      expect(status, text).toBe(200)
    }),
    intelligence: await createIntelligenceFixture(site, admin),
    signMessage: delivered,
  }
}

/** The node alpha's description of itself. */
export const nodeRegistration = {
  id: 'alpha',
  ...{ kind: 'mission_service', site: 'alpha', node_tenant_id: 'alpha', description: '', capabilities: [] },
}

async function registerNode(site: SingleClusterSite, token: string): Promise<void> {
  const { id, ...body } = nodeRegistration
  const { status, text } = await site.request('hub', { method: 'PUT', path: `/api/v2/hub/node/${id}`, token, body })
  expect(status, text).toBe(200)
}

export function buildSessionInput(more: RequestFields = {}) {
  return { lens_id: 'lens', lens_version: '1', policy: sessionPolicy, classification: secretClassification, ...more }
}

export function buildContribution(contributor_id: string, pair_score: number) {
  const opinion = { pair_score, accuracy: 0.9, credibility: 0.9 }
  return { contributor_id, ...opinion, signer_key_id: `${contributor_id}-1`, classification: secretClassification }
}

export function buildInvitation(session_id: string) {
  return {
    session_id,
    lens_id: 'lens',
    lens_version: '1',
    policy: sessionPolicy,
    classification: { ...secretLabel, originator: 'bravo' },
  }
}

/** Bravo's message about its decision. */
export function buildEmission(session_id: string, more: RequestFields = {}) {
  const decided = { event: 'ratified', seq: 5, at: '2026-03-02T12:00:00.000Z', decision: 'match', score: 0.9 }
  return { session_id, lens_id: 'lens', lens_version: '1', ...decided, attested: false, ...more }
}

/** Every default spelled out, as the signed fields must be what the receiver reads. */
const bodySchemas: Partial<Record<MessageKind, string>> = {
  ...{ resolution: 'resolution.exchange', signal: 'signal', dataset: 'ingest.dataset' },
}

function signAsBravo({ bravo }: SingleClusterSite, kind: MessageKind, fields: RequestFields, change: RequestFields) {
  const data = {
    ...fields,
    ...(fields.policy ? { policy: { combination_method: 'weighted_average', ...sessionPolicy } } : {}),
  }
  return signMessage(
    { name: 'bravo', signatures: bravo },
    { kind, schema: `${bodySchemas[kind] ?? `consensus.${kind}`}/1`, data },
    change,
  )
}

type MessageSender = { readonly name: string; readonly signatures: Pick<Signatures, 'sign'> }
type MessageContent = { readonly kind: MessageKind; readonly schema: string; readonly data: RequestFields }

let seq = 0

/** A message to this site; `change` replaces parts of the signed statement. */
export async function signMessage(
  { name, signatures }: MessageSender,
  { kind, schema, data }: MessageContent,
  change: RequestFields = {},
) {
  const body = JSON.stringify({ label: secretLabel, schema, data })
  seq += 1
  const content = statement.parse({
    v: 1,
    type: 'platform.message',
    channel: `filedrop/${name}/alpha`,
    src: name,
    dst: 'alpha',
    sender_tenant_id: name,
    receiver_tenant_id: 'alpha',
    epoch: 1,
    seq,
    prev: '0'.repeat(96),
    msg_id: `msg_${randomBytes(16).toString('hex')}`,
    kind,
    created: new Date().toISOString(),
    not_after: new Date(Date.now() + 86_400_000).toISOString(),
    body: { sha384: sha384(body), length: Buffer.byteLength(body), schema },
    label: secretLabel,
    parent_block_ids: [],
    max_hops: 1,
    ...change,
  })
  const envelope = await signatures.sign('statement', new TextEncoder().encode(canonicalJson(content)))
  return { envelope, body: Buffer.from(body).toString('base64url') }
}
