// Pays what a session owes: dissent records, evidence, messages to peers, emissions to sinks. Every payment may be repeated.

import { isRefusal, type Refusal, refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { brokerSinkClient } from '../emission/broker-sink.ts'
import { emissionOf, rulingOf, statusEventOf } from '../emission/rules.ts'
import { webhookSinkClient } from '../emission/webhook-sink.ts'
import { type EvidenceBlock, evidenceBlocks } from '../evidence/model.ts'
import { blockIdOf, buildEvidence, signedBytes } from '../evidence/rules.ts'
import { dissentTotal } from '../metrics.ts'
import { sessionTopic } from '../session/announce-change.ts'
import { loadContributionIndex } from '../session/contribution/contribution-index-cache.ts'
import { dissents } from '../session/dissent/model.ts'
import { lifecycleEvent } from '../session/lifecycle-event.ts'
import { type EmissionEvent, type SessionOutboxEntry, type StoredSession, sessions } from '../session/model.ts'
import { sinksFor } from '../session/sinks.ts'
import { emissionEntry, replaceInOutbox } from '../session/transition/rules.ts'
import { feed_sink_name, settings } from '../settings.ts'

/** What changes in the session once a debt is paid, besides the debt being gone, and what it then owes in its place. */
type OutboxDelivery = (session: StoredSession) => {
  readonly session: StoredSession
  readonly more: readonly SessionOutboxEntry[]
}
const noFollowUps: OutboxDelivery = (session) => ({ session, more: [] })

/** Milliseconds that failures on one way may take from all others in one run; then it is left to the next run. */
const failure_budget_ms = 1_000

/**
 * Pays in order. A debt that cannot be paid now stays, and with it all that goes the same way; one that never can is
 * dropped, audited. `lost`: what failures have cost in this run, by way, in milliseconds; it is kept up here.
 */
export async function deliverOutbox(call: Call, doc: Doc<StoredSession>, lost: Map<string, number>): Promise<void> {
  const blocked = new Set([...lost].filter(([, ms]) => ms >= failure_budget_ms).map(([way]) => way))
  for (const debt of doc.value.pending) {
    const way = destinationOf(debt)
    if (blocked.has(way)) continue
    const began = call.monotonic()
    const payment = await tryDelivery(call, doc, debt)
    if (!payment) {
      // Sinks and peers do not wait for each other, and all of them wait for the session's own records.
      if (way === 'records') return
      blocked.add(way)
      lost.set(way, (lost.get(way) ?? 0) + call.monotonic() - began)
      continue
    }
    let follows = 0
    await call.store(sessions).update(doc.id, ({ value }) => {
      const { session, more } = payment(value)
      follows = more.length
      return { next: replaceInOutbox(session, debt.id, more), answer: undefined }
    })
    call.announce(sessionTopic(doc.id))
    // What follows from a debt, as results follow from evidence, comes before the later ones: a new turn, in order.
    if (follows > 0) return call.wake('relay')
  }
}

function destinationOf(debt: SessionOutboxEntry): string {
  if (debt.type === 'message') return `peer ${debt.peer}`
  return debt.type === 'emission' ? `sink ${debt.sink}` : 'records'
}

/** Undefined when the debt cannot be paid now. */
async function tryDelivery(
  call: Call,
  doc: Doc<StoredSession>,
  debt: SessionOutboxEntry,
): Promise<OutboxDelivery | undefined> {
  try {
    return await deliverEntry(call, doc, debt)
  } catch (error) {
    if (!isRefusal(error) || !isPermanentFailure(error)) {
      const { trace_id } = call.trace
      call.log.warn('consensus.session.undelivered', { trace_id, session: doc.id, debt: debt.id, error: String(error) })
      return undefined
    }
    const detail = { debt: debt.id, code: error.code, why: error.message }
    const event = lifecycleEvent(call, 'consensus.session.undeliverable', doc.value, detail)
    await call.record([{ ...event, outcome: 'refused' }])
    const failed = { what: debt.id, code: error.code, why: error.message, at: call.nowIso() }
    return (session) => ({ session: { ...session, failures: [...(session.failures ?? []), failed] }, more: [] })
  }
}

/** Another role's failure, or that this site's own token does not count now, says nothing about the debt. */
function isPermanentFailure({ code, row }: Refusal): boolean {
  return !row.retryable && code !== 'internal' && code !== 'unauthenticated'
}

async function deliverEntry(call: Call, doc: Doc<StoredSession>, debt: SessionOutboxEntry): Promise<OutboxDelivery> {
  if (debt.type === 'dissent') return deliverDissent(call, doc, debt)
  if (debt.type === 'dissent_closed') return closeDissentRecord(call, debt)
  if (debt.type === 'evidence') return deliverEvidence(call, doc)
  if (debt.type === 'emission') return deliverEmission(call, doc, debt)
  const { id, peer, kind, body } = debt
  await call.roles.send({
    peer,
    event_id: `${doc.id}:${id}`,
    kind,
    schema: `consensus.${kind}/1`,
    body,
    label: doc.value.label,
    parent_block_ids: [],
  })
  return noFollowUps
}

async function deliverDissent(
  call: Call,
  doc: Doc<StoredSession>,
  debt: Extract<SessionOutboxEntry, { type: 'dissent' }>,
): Promise<OutboxDelivery> {
  const made = await call.store(dissents).create(debt.id, debt.record)
  if (made !== 'exists') call.count(dissentTotal, { lens_id: debt.record.lens_id })
  const { label: _label, tenant_id: _tenant, ...record } = debt.record
  const messages: SessionOutboxEntry[] = doc.value.invited.map((peer) => ({
    type: 'message',
    id: `dissent:${debt.id}:${peer}`,
    peer,
    kind: 'result',
    body: { session_id: doc.id, dissent: { id: debt.id, ...record } },
  }))
  return (session) => ({ session, more: messages })
}

async function closeDissentRecord(
  call: Call,
  debt: Extract<SessionOutboxEntry, { type: 'dissent_closed' }>,
): Promise<OutboxDelivery> {
  const { resolution, at } = debt
  await call
    .store(dissents)
    .update(debt.dissent_id, ({ value }) =>
      value.status === 'resolved'
        ? { answer: undefined }
        : { next: { ...value, status: 'resolved', resolution, resolved_at: at }, answer: undefined },
    )
  return noFollowUps
}

async function deliverEvidence(call: Call, doc: Doc<StoredSession>): Promise<OutboxDelivery> {
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
  const signature = await call.roles.sign('evidence', signedBytes(content.site, block_id))
  const keys = await call.roles.publicKeys()
  return { block_id, content, signature, keys: [...keys] }
}

async function deliverEmission(
  call: Call,
  doc: Doc<StoredSession>,
  debt: Extract<SessionOutboxEntry, { type: 'emission' }>,
): Promise<OutboxDelivery> {
  if (debt.sink === feed_sink_name) return publishToFeed(call, doc, debt)
  const sink = call.settings(settings).sinks.find(({ name }) => name === debt.sink)
  if (!sink) throw refuse('not_found', `the sink ${debt.sink} is no longer configured`)
  const id = `${doc.id}:${debt.id}`
  if (sink.kind === 'resolution') return deliverRuling(call, doc.value, debt.event)
  const body = emissionOf(doc.value, debt.event)
  if (sink.kind === 'webhook') {
    await call.part(webhookSinkClient).post(sink, { id, ...body }, call)
    return noFollowUps
  }
  if (sink.kind === 'amqp') {
    const { tls_ca_file: ca_file, tls_cert_file: cert_file, tls_key_file: key_file } = sink
    const to = { ...sink, tls: { ca_file, cert_file, key_file } }
    await call.part(brokerSinkClient).publish(to, { id, body: { id, ...body } }, call)
    return noFollowUps
  }
  const { label } = doc.value
  await call.roles.send({
    peer: sink.peer,
    event_id: id,
    kind: 'lens_emission',
    schema: 'consensus.lens_emission/1',
    body,
    label,
    parent_block_ids: [],
  })
  return noFollowUps
}

/** Sessions that are about no match have nothing to say to it. */
async function deliverRuling(call: Call, session: StoredSession, event: EmissionEvent): Promise<OutboxDelivery> {
  const { kind, correlation_id } = session.subject ?? {}
  if (kind !== 'entity_match' || correlation_id === undefined) return noFollowUps
  const refused = await call.roles.applyRuling({ ...rulingOf(session, event), correlation_id })
  if (refused) throw refused
  return noFollowUps
}

async function publishToFeed(
  call: Call,
  { id, value }: Doc<StoredSession>,
  debt: Extract<SessionOutboxEntry, { type: 'emission' }>,
): Promise<OutboxDelivery> {
  const refused = await call.roles.publishStatusEvent(statusEventOf(value, debt.event, `${id}:${debt.id}`), value.label)
  if (refused) throw refused
  return noFollowUps
}
