// Fills a receiver's ledger as if so many messages had been taken in, each with its record in the audit chain.
import type { AuditEvent } from '../../../daemon/kernel/audit/audit-chain.ts'
import { sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { MessageArrival } from '../../../daemon/kernel/messaging/ledger.ts'
import type { FiledropReceiver } from './filedrop-receiver.ts'
import { type MessageGenerator, receiver as ours, sender } from './message-generator.ts'

const channel = `filedrop/${sender.name}/${ours.name}`
const chunk = 500

/** Up to this many entries; the mill goes on with the next number. */
export async function fillLedger(
  { journal }: FiledropReceiver,
  mill: MessageGenerator,
  entries: number,
): Promise<void> {
  let { highest } = await journal.progress(channel, 1)
  while (highest < entries) {
    const numbers = Array.from({ length: Math.min(chunk, entries - highest) }, (_, index) => highest + 1 + index)
    await journal.receive(channel, numbers.map(buildArrival))
    await journal.recordOutcomes(
      channel,
      numbers.map((seq) => ({ epoch: 1, seq, state: 'applied', code: '', audit: [buildEvent(seq)] })),
    )
    highest += numbers.length
    mill.skipTo(highest, buildDigest(highest))
  }
}

function buildDigest(seq: number): string {
  return sha384(`statement ${seq}`)
}

function buildArrival(seq: number): MessageArrival {
  const msg_id = `msg_${String(seq).padStart(32, '0')}`
  const [digest, prev] = [buildDigest(seq), buildDigest(seq - 1)]
  return {
    epoch: 1,
    seq,
    digest,
    prev,
    msg_id,
    kind: 'contribution',
    at: Date.now(),
    not_after: Date.now() + 604_800_000,
  }
}

function buildEvent(seq: number): AuditEvent {
  return {
    action: 'filedrop.message.applied',
    at: new Date().toISOString(),
    detail: { channel, digest: buildDigest(seq), epoch: 1, kind: 'contribution', seq },
    outcome: 'done',
    subject: `peer:${sender.name}`,
    target: `msg_${String(seq).padStart(32, '0')}`,
    tenant_id: ours.tenant_id,
    trace_id: String(seq).padStart(32, '0'),
  }
}
