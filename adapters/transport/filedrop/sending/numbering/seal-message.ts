// Builds the signed message: body and statement as canonical JSON, and the envelope around the statement's bytes.

import { setImmediate as pause } from 'node:timers/promises'
import { canonicalJson, sha384 } from '../../../../../daemon/kernel/encoding/canonical-json.ts'
import { strictJsonReading } from '../../../../../daemon/kernel/encoding/strict-json.ts'
import { refuse } from '../../../../../daemon/kernel/error/errors.ts'
import type { Peer } from '../../../../../daemon/kernel/identity/peer.ts'
import { bodyLimits } from '../../../../../daemon/kernel/messaging/body-limits.ts'
import type { SealedMessage, SentHead } from '../../../../../daemon/kernel/messaging/journal.ts'
import type { MessageBody, Statement } from '../../../../../daemon/kernel/messaging/statement.ts'
import { selectFormat } from '../../../../../daemon/kernel/messaging/statement-format.ts'
import type { OutboundMessage } from '../../../../../daemon/kernel/messaging/transport.ts'
import { sliceRunner } from '../../../../../daemon/kernel/role/run-in-slices.ts'
import { no_predecessor } from '../../checks/sequence-check.ts'
import { day_ms } from '../../day-length.ts'
import type { FiledropContext } from '../../filedrop-context.ts'

/**
 * The next message after `head`. Throws `Refusal('too_large')` or `('invalid')` for what no receiver would take, and
 * `('unavailable')` while the peer reads no version that is written here.
 */
export async function sealMessage(
  message: OutboundMessage,
  channel: string,
  peer: Peer,
  head: SentHead,
  filedrop: FiledropContext,
): Promise<SealedMessage> {
  const { site, tenant_id, clock, random, signatures, settings, formats } = filedrop
  const now = clock.now()
  const body = await encodeBody(message, filedrop)
  if ((await filedrop.purges.all()).has(sha384(body))) {
    throw refuse('label_denied', 'the body was purged from this site and must not be sent')
  }
  const format = selectFormat(peer.max_v, formats)
  if (!format) throw refuse('unavailable', `this site writes no version of the statement as old as ${peer.name} reads`)
  const statement: Statement = {
    v: format.v,
    type: 'platform.message',
    channel,
    src: site,
    dst: peer.name,
    sender_tenant_id: tenant_id,
    receiver_tenant_id: peer.tenant_id,
    epoch: head.epoch,
    seq: head.seq + 1,
    prev: head.digest ?? no_predecessor,
    msg_id: `msg_${random(16)}`,
    kind: message.kind,
    created: new Date(now).toISOString(),
    not_after: new Date(now + peer.not_after_days * day_ms).toISOString(),
    body: { sha384: sha384(body), length: Buffer.byteLength(body), schema: message.schema },
    label: message.label,
    parent_block_ids: [...message.parent_block_ids],
    max_hops: settings.max_hops,
  }
  const bytes = Buffer.from(canonicalJson(format.write(statement)))
  const envelope = `${JSON.stringify(await signatures.sign('statement', bytes))}\n`
  if (Buffer.byteLength(envelope) > settings.max_envelope_bytes) {
    throw refuse('too_large', 'the message has too many parents for an envelope')
  }
  const { epoch, seq, msg_id, kind } = statement
  const not_after = Date.parse(statement.not_after)
  return {
    epoch,
    seq,
    event_id: message.event_id,
    msg_id,
    kind,
    digest: sha384(bytes),
    envelope,
    body,
    at: now,
    not_after,
  }
}

/** Read again by the receiver's own rules: what it would put in quarantine is refused here, before it has a number. */
async function encodeBody(
  message: OutboundMessage,
  { clock, settings: { max_body_bytes } }: FiledropContext,
): Promise<string> {
  const runSliced = sliceRunner({ monotonic: clock.monotonic, pause })
  const { label, schema, body: data } = message
  const text = canonicalJson({ label, schema, data } satisfies MessageBody)
  const bytes = Buffer.from(text)
  if (bytes.length > max_body_bytes) throw refuse('too_large', `the body has more than ${max_body_bytes} bytes`)
  const read = await runSliced(strictJsonReading(bytes, bodyLimits))
  if (read.outcome === 'value') return text
  if (read.outcome === 'TOO_LARGE') throw refuse('too_large', `the body has ${read.detail}: send less in one message`)
  throw refuse(
    'invalid',
    `the body is not valid JSON for a message: ${'detail' in read ? read.detail : 'it does not end'}`,
  )
}
