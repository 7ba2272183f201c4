// Channels, messages and arrivals that the requirements on journals use.
import type { AuditEvent } from '../../daemon/kernel/audit/audit-chain.ts'
import type { SealedMessage } from '../../daemon/kernel/messaging/journal.ts'
import type { MessageArrival } from '../../daemon/kernel/messaging/ledger.ts'

export const outChannel = { channel: 'x/a/b', peer: 'b', direction: 'out', epoch: 1 } as const

export const inChannel = { channel: 'x/b/a', peer: 'b', direction: 'in', epoch: 1 } as const

export const hexDigest = (seq: number) => seq.toString(16).padStart(96, '0')

export const buildSealedMessage = (seq: number, more: Partial<SealedMessage> = {}): SealedMessage => ({
  ...{ epoch: 1, seq, event_id: `event-${seq}`, msg_id: `msg_${seq}`, kind: 'contribution', digest: hexDigest(seq) },
  ...{ envelope: `envelope ${seq}`, body: `body ${seq} é`, at: 1_000 + seq, not_after: 10_000 },
  ...more,
})

export const buildArrival = (seq: number, more: Partial<MessageArrival> = {}): MessageArrival => ({
  ...{
    epoch: 1,
    seq,
    digest: hexDigest(seq),
    prev: hexDigest(seq - 1),
    msg_id: `msg_${seq}`,
    kind: 'result',
    at: 5_000,
    not_after: 10_000,
  },
  ...more,
})

export const sampleEvent: AuditEvent = {
  ...{ at: '2026-03-01T12:00:00Z', action: 'test.step', outcome: 'done', tenant_id: 't', subject: 's' },
  ...{ target: 'x', trace_id: '0', detail: {} },
}
