// Delivers a session's decision, or its retraction, to one sink.
import { refuse } from '../../../kernel/error/errors.ts'
import type { Call } from '../../../kernel/operation/call.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { publishStatusEvent } from '../../../shared/coalition/status-feed.ts'
import { applySessionRuling } from '../../../shared/match-session/match-session.ts'
import { sendMessage } from '../../../shared/site-message/site-message.ts'
import { brokerSinkClient } from '../emission/broker-sink.ts'
import { emissionOf, rulingOf, statusEventOf } from '../emission/rules.ts'
import { webhookSinkClient } from '../emission/webhook-sink.ts'
import type { EmissionEvent, OutboxEntryOf, StoredSession } from '../session/model.ts'
import { findSink } from '../session/sinks.ts'
import { feed_sink_name } from '../settings.ts'
import { noFollowUps, type OutboxDelivery } from './outbox-delivery.ts'

export async function deliverEmission(
  call: Call,
  doc: Doc<StoredSession>,
  entry: OutboxEntryOf<'emission'>,
): Promise<OutboxDelivery> {
  if (entry.sink === feed_sink_name) return publishToFeed(call, doc, entry)
  const sink = findSink(call, entry.sink)
  if (!sink) throw refuse('not_found', `the sink ${entry.sink} is no longer configured`)
  const id = `${doc.id}:${entry.id}`
  if (sink.kind === 'resolution') return deliverRuling(call, doc.value, entry.event)
  const body = emissionOf(doc.value, entry.event)
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
  await sendMessage(call, {
    peer: sink.peer,
    event_id: id,
    kind: 'lens_emission',
    schema: 'consensus.lens_emission/1',
    body,
    label,
    // The decision rests on its evidence, a retraction takes back what rested on it.
    parent_block_ids: body.evidence_block_id === undefined ? [] : [body.evidence_block_id],
  })
  return noFollowUps
}

/** Applies the decision to the match that the session is about; other sessions have nothing to apply. */
async function deliverRuling(call: Call, session: StoredSession, event: EmissionEvent): Promise<OutboxDelivery> {
  const { kind, correlation_id } = session.subject ?? {}
  if (kind !== 'entity_match' || correlation_id === undefined) return noFollowUps
  const refusal = await applySessionRuling(call, { ...rulingOf(session, event), correlation_id })
  if (refusal) throw refusal
  return noFollowUps
}

async function publishToFeed(
  call: Call,
  { id, value }: Doc<StoredSession>,
  entry: OutboxEntryOf<'emission'>,
): Promise<OutboxDelivery> {
  const refusal = await publishStatusEvent(call, statusEventOf(value, entry.event, `${id}:${entry.id}`), value.label)
  if (refusal) throw refusal
  return noFollowUps
}
