// Stores the records that a session's outbox holds: dissent records, their closing, and the signed evidence block.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { listMessageKeys, signWithSiteKey } from '../../../shared/site-key/site-key.ts'
import { type EvidenceBlock, evidenceBlocks } from '../evidence/model.ts'
import { blockIdOf, buildEvidence, signedBytes } from '../evidence/rules.ts'
import { dissentTotal } from '../metrics.ts'
import { loadContributionIndex } from '../session/contribution/contribution-index-cache.ts'
import { dissents } from '../session/dissent/model.ts'
import { lifecycleEvent } from '../session/lifecycle-event.ts'
import type { OutboxEntryOf, SessionOutboxEntry, StoredSession } from '../session/model.ts'
import { sinksFor } from '../session/sinks.ts'
import { emissionEntry } from '../session/transition/rules.ts'
import { noFollowUps, type OutboxDelivery } from './outbox-delivery.ts'

export async function deliverDissent(
  call: Call,
  doc: Doc<StoredSession>,
  entry: OutboxEntryOf<'dissent'>,
): Promise<OutboxDelivery> {
  const outcome = await call.store(dissents).create(entry.id, entry.record)
  if (outcome !== 'exists') call.count(dissentTotal, { lens_id: 'all' })
  const { label: _label, tenant_id: _tenant, ...record } = entry.record
  const messages: SessionOutboxEntry[] = doc.value.invited.map((peer) => ({
    type: 'message',
    id: `dissent:${entry.id}:${peer}`,
    peer,
    kind: 'result',
    body: { session_id: doc.id, dissent: { id: entry.id, ...record } },
  }))
  return (session) => ({ session, more: messages })
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

export async function deliverEvidence(call: Call, doc: Doc<StoredSession>): Promise<OutboxDelivery> {
  const block = await signEvidence(call, doc)
  const { tenant_id, label } = doc.value
  const stored = { tenant_id, label, session_id: doc.id, created_at: call.nowIso(), block }
  const detail = { session_id: doc.id }
  const audit = [lifecycleEvent(call, 'consensus.evidence.create', doc.value, detail, block.block_id)]
  await call.store(evidenceBlocks).create(block.block_id, stored, audit)
  const messages: SessionOutboxEntry[] = doc.value.invited.map((peer) => ({
    type: 'message',
    id: `evidence:${peer}`,
    peer,
    kind: 'result',
    body: { session_id: doc.id, evidence: block },
  }))
  const emissions = sinksFor(call, doc.value.label).map((sink) => emissionEntry(sink, 'ratified'))
  return (session) => ({
    session: { ...session, evidence_block_id: block.block_id },
    more: [...messages, ...emissions],
  })
}

async function signEvidence(call: Call, doc: Doc<StoredSession>): Promise<EvidenceBlock> {
  const content = buildEvidence(call.site.name, doc.value, await loadContributionIndex(call, doc))
  const block_id = blockIdOf(content)
  const signature = await signWithSiteKey(call, 'evidence', signedBytes(content.site, block_id))
  const keys = await listMessageKeys(call)
  return { block_id, content, signature, keys }
}
