// Delivers a session's outbox: dissent records, evidence, messages to peers, emissions to sinks. Each delivery may be repeated.

import { isRefusal, type Refusal } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import { observedDependenciesPart } from '../../../kernel/role/observed-dependencies.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { sendMessage } from '../../../shared/site-message/site-message.ts'
import { evidenceBlocks } from '../evidence/model.ts'
import { sessionTopic } from '../session/announce-change.ts'
import { lifecycleEvent } from '../session/lifecycle-event.ts'
import { type SessionOutboxEntry, type StoredSession, sessions } from '../session/model.ts'
import { sinkDependency } from '../session/sinks.ts'
import { replaceInOutbox } from '../session/transition/rules.ts'
import { deliverEmission } from './deliver-emission.ts'
import { closeDissentRecord, deliverDissent, deliverEvidence, readSentDissent } from './deliver-record.ts'
import { noFollowUps, type OutboxDelivery } from './outbox-delivery.ts'

/** Time that failures at one destination may take in one run, in milliseconds; the next run continues. */
const failure_budget_ms = 1_000

/**
 * Delivers in order. An entry that cannot be delivered now stays, and so does every later one for the same
 * destination; one that can never be delivered is dropped, with an audit event. `lost_ms`: time that failures have
 * cost in this run, by destination; updated here.
 */
export async function deliverOutbox(call: Call, doc: Doc<StoredSession>, lost_ms: Map<string, number>): Promise<void> {
  const blocked = new Set([...lost_ms].filter(([, ms]) => ms >= failure_budget_ms).map(([destination]) => destination))
  for (const entry of doc.value.pending) {
    const destination = destinationOf(entry)
    if (blocked.has(destination)) continue
    const began = call.monotonic()
    const delivery = await tryDelivery(call, doc, entry, destination)
    if (!delivery) {
      // Sinks and peers do not wait for each other, and all of them wait for the session's own records.
      if (destination === 'records') return
      blocked.add(destination)
      lost_ms.set(destination, (lost_ms.get(destination) ?? 0) + call.monotonic() - began)
      continue
    }
    const { answer: follow_ups } = await call.store(sessions).update(doc.id, ({ value }) => {
      const { session, more } = delivery(value)
      return { next: replaceInOutbox(session, entry.id, more), answer: more.length }
    })
    call.announce(sessionTopic(doc.id))
    // Follow-ups, such as the results after the evidence, precede the later entries: the next run delivers in order.
    if (follow_ups > 0) return call.wake('relay')
  }
}

function destinationOf(entry: SessionOutboxEntry): string {
  if (entry.type === 'message') return `peer ${entry.peer}`
  return entry.type === 'emission' ? sinkDependency(entry.sink) : 'records'
}

/** Undefined when the entry cannot be delivered now. */
async function tryDelivery(
  call: Call,
  doc: Doc<StoredSession>,
  entry: SessionOutboxEntry,
  destination: string,
): Promise<OutboxDelivery | undefined> {
  const began = call.monotonic()
  const observe = (ok: boolean, detail: string) => {
    const observation = { ok, detail, latency_ms: Math.round(call.monotonic() - began), at: call.now() }
    call.part(observedDependenciesPart).observe(destination, observation)
  }
  try {
    const delivery = await deliverEntry(call, doc, entry)
    observe(true, 'delivered')
    return delivery
  } catch (error) {
    if (!isRefusal(error) || !isPermanentFailure(error)) {
      observe(
        false,
        isRefusal(error) ? error.message : 'the delivery failed; see consensus.session.undelivered in the log',
      )
      const { trace_id } = call.trace
      const detail = { trace_id, session: doc.id, entry: entry.id, error: String(error) }
      call.log.warn('consensus.session.undelivered', detail)
      return undefined
    }
    const detail = { entry: entry.id, code: error.code, why: error.message }
    const event = lifecycleEvent(call, 'consensus.session.undeliverable', doc.value, detail)
    await call.record([{ ...event, outcome: 'refused' }])
    const failure = { what: entry.id, code: error.code, why: error.message, at: call.nowIso() }
    return (session) => ({ session: { ...session, failures: [...(session.failures ?? []), failure] }, more: [] })
  }
}

/**
 * An internal failure of another role, or a token of this site that is not valid now, may be temporary: the entry
 * stays.
 */
function isPermanentFailure({ code, row }: Refusal): boolean {
  return !row.retryable && code !== 'internal' && code !== 'unauthenticated'
}

async function deliverEntry(call: Call, doc: Doc<StoredSession>, entry: SessionOutboxEntry): Promise<OutboxDelivery> {
  if (entry.type === 'dissent') return deliverDissent(call, doc, entry)
  if (entry.type === 'dissent_closed') return closeDissentRecord(call, entry)
  if (entry.type === 'evidence') return deliverEvidence(call, doc)
  if (entry.type === 'emission') return deliverEmission(call, doc, entry)
  const { id, peer, kind, evidence_block_id, dissent_id, parent_block_ids = [] } = entry
  const evidence = evidence_block_id && (await call.store(evidenceBlocks).get(evidence_block_id)).value.block
  const dissent = dissent_id && (await readSentDissent(call, dissent_id))
  const body = { ...entry.body, ...(evidence ? { evidence } : {}), ...(dissent ? { dissent } : {}) }
  await sendMessage(call, {
    peer,
    event_id: `${doc.id}:${id}`,
    kind,
    schema: `consensus.${kind}/1`,
    body,
    label: doc.value.label,
    parent_block_ids,
  })
  return noFollowUps
}
