// Stores the records that a session's outbox holds: dissent records, their closing, and the signed evidence block.
import { digestCanonically } from '../../../kernel/encoding/digest-canonically.ts'
import { refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { runInSlices } from '../../../kernel/role/run-in-slices.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { listMessageKeys, signWithSiteKey } from '../../../shared/site-key/site-key.ts'
import { analyseBesideLoop } from '../dissent/conflict-analyser.ts'
import { buildLineage } from '../evidence/lineage/rules.ts'
import { type EvidenceBlock, type EvidenceContent, evidenceBlocks, type LineageEntry } from '../evidence/model.ts'
import { buildEvidence, buildEvidence1, type EvidenceProofs, listStanding, signedBytes } from '../evidence/rules.ts'
import { dissentTotal } from '../metrics.ts'
import { loadContributionIndex } from '../session/contribution/contribution-index-cache.ts'
import type { Contribution } from '../session/contribution/model.ts'
import { loadProofs } from '../session/contribution/proof/stored-proof.ts'
import { readContributions } from '../session/contribution/read-contributions.ts'
import { type DissentRecord, dissents } from '../session/dissent/model.ts'
import { lifecycleEvent } from '../session/lifecycle-event.ts'
import { type OutboxEntryOf, type SessionOutboxEntry, type StoredSession, sessions } from '../session/model.ts'
import { sinksFor } from '../session/sinks.ts'
import { emissionEntry } from '../session/transition/rules.ts'
import { settings } from '../settings.ts'
import { noFollowUps, type OutboxDelivery } from './outbox-delivery.ts'

export async function deliverDissent(
  call: Call,
  doc: Doc<StoredSession>,
  entry: OutboxEntryOf<'dissent'>,
): Promise<OutboxDelivery> {
  const stored = await completeDissent(call, doc, entry)
  const outcome = await call.store(dissents).create(entry.id, stored)
  if (outcome !== 'exists') call.count(dissentTotal, { lens_id: 'all' })
  const messages: SessionOutboxEntry[] = doc.value.invited.map((peer) => ({
    type: 'message',
    id: `dissent:${entry.id}:${peer}`,
    peer,
    kind: 'result',
    body: { session_id: doc.id },
    dissent_id: entry.id,
  }))
  return (session) => ({ session, more: messages })
}

/** The dissent as it is sent to peers, the same in each delivery: as it was before its resolution. */
export async function readSentDissent(call: Call, id: string) {
  const {
    label: _label,
    tenant_id: _tenant,
    resolution: _resolution,
    resolved_at: _resolved,
    ...record
  } = (await call.store(dissents).get(id)).value
  return { id, ...record, status: 'open' as const }
}

/** Entries of earlier versions hold the whole record. */
async function completeDissent(
  call: Call,
  { value: { policy } }: Doc<StoredSession>,
  { record }: OutboxEntryOf<'dissent'>,
): Promise<DissentRecord> {
  const { influence, smallest_set, ...described } = record.body
  const analysis =
    influence && smallest_set ? { influence, smallest_set } : await analyseBesideLoop(call, policy, described)
  return { ...record, body: { ...described, ...analysis } }
}

export async function closeDissentRecord(call: Call, entry: OutboxEntryOf<'dissent_closed'>): Promise<OutboxDelivery> {
  const { resolution, at } = entry
  await call
    .store(dissents)
    .update(entry.dissent_id, ({ value }) =>
      value.status === 'resolved'
        ? { answer: undefined }
        : { next: { ...value, status: 'resolved', resolution, resolved_at: at }, answer: undefined },
    )
  return noFollowUps
}

/**
 * Signs and stores the evidence, then queues it for the peers. A peer that reads version 1 only gets a block of that version,
 * which has an id of its own.
 */
export async function deliverEvidence(call: Call, doc: Doc<StoredSession>): Promise<OutboxDelivery> {
  const { newest, version1 } = await buildContents(call, doc)
  const block = await storeEvidence(call, doc, newest)
  const { evidence_v1_peers } = call.settings(settings)
  const olderPeers = newest.v === 1 ? [] : doc.value.invited.filter((peer) => evidence_v1_peers.includes(peer))
  const olderBlock = olderPeers.length > 0 ? await storeEvidence(call, doc, version1) : block
  const messages: SessionOutboxEntry[] = doc.value.invited.map((peer) => ({
    type: 'message',
    id: `evidence:${peer}`,
    peer,
    kind: 'result',
    body: { session_id: doc.id },
    evidence_block_id: (olderPeers.includes(peer) ? olderBlock : block).block_id,
  }))
  const emissions = sinksFor(call, doc.value).map((sink) => emissionEntry(sink, 'ratified'))
  return (session) => ({
    session: { ...session, evidence_block_id: block.block_id },
    more: [...messages, ...emissions],
  })
}

type EvidenceVersions = { readonly newest: EvidenceContent; readonly version1: EvidenceContent }

/** Version 2 needs the message of every contribution of a peer; those that came before an update were not kept. */
async function buildContents(call: Call, doc: Doc<StoredSession>): Promise<EvidenceVersions> {
  const standing = listStanding(await loadContributionIndex(call, doc), doc.value)
  const { name } = call.site
  const lineage = await findLineage(call, doc.value)
  const version1 = buildEvidence1(name, doc.value, standing, lineage)
  if (standing.some(({ federation, proof }) => federation && proof === undefined)) return { newest: version1, version1 }
  const proofs = await loadProofs(call, doc.id, standing)
  const superseded = await listSuperseded(call, doc, standing)
  return { newest: buildEvidence(name, doc.value, standing, { proofs, superseded, lineage }), version1 }
}

/** @throws Refusal `unavailable` while the block of the superseded session is not signed yet. */
async function findLineage(call: Call, { supersedes, rests_on = [] }: StoredSession): Promise<LineageEntry[]> {
  if (supersedes === undefined) return buildLineage(undefined, rests_on)
  const superseded = (await call.store(sessions).find(supersedes))?.value
  if (superseded?.pending.some(({ type }) => type === 'evidence'))
    throw refuse('unavailable', `the evidence of the superseded session ${supersedes} is not signed yet`)
  return buildLineage(superseded?.evidence_block_id, rests_on)
}

/** Most superseded contributions that a block lists. */
const max_superseded = 1_000

async function listSuperseded(
  call: Call,
  doc: Doc<StoredSession>,
  standing: readonly Contribution[],
): Promise<EvidenceProofs['superseded']> {
  const count = doc.value.contributions - standing.length
  if (count === 0) return []
  if (count > max_superseded) return undefined
  const current = new Set(standing.map(({ ordinal }) => ordinal))
  const all = await readContributions(call, doc, 0, doc.value.contributions)
  return all.flatMap(({ ordinal, digest }) => (current.has(ordinal) ? [] : [{ ordinal, digest }]))
}

async function storeEvidence(call: Call, doc: Doc<StoredSession>, content: EvidenceContent): Promise<EvidenceBlock> {
  const block_id = await runInSlices(call, digestCanonically(content))
  const signature = await signWithSiteKey(call, 'evidence', signedBytes(content, block_id))
  const block = { block_id, content, signature, keys: await listMessageKeys(call) }
  const { tenant_id, label } = doc.value
  const stored = { tenant_id, label, session_id: doc.id, created_at: call.nowIso(), block }
  const audit = [lifecycleEvent(call, 'consensus.evidence.create', doc.value, { session_id: doc.id }, block_id)]
  await call.store(evidenceBlocks).create(block_id, stored, audit)
  return block
}
