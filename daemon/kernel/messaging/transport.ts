// A transport of messages between sites: the messages it takes and gives, and its guarantees.
import type { Label } from '../label/label.ts'
import type { Trace } from '../telemetry/trace.ts'
import type { Handover } from './carrier.ts'
import type { ChannelStatus } from './channel-status.ts'
import type { Custody } from './custody.ts'
import type { MessageKind } from './message-kind.ts'
import type { OneWayControl } from './one-way-control.ts'
import type { Statement } from './statement.ts'

/** A message to send: `event_id` makes a repeat find the same bytes. The carrier adds the rest of the statement. */
export type OutboundMessage = {
  readonly peer: string
  readonly event_id: string
  readonly kind: MessageKind
  readonly schema: string
  /** Plain JSON; travels as `data` of a `MessageBody`, and arrives as `body` of an `InboundMessage`. */
  readonly body: Readonly<Record<string, unknown>>
  readonly label: Label
  readonly parent_block_ids: readonly string[]
}

/**
 * A message that passed every check of the carrier. `envelope` and `body_text` are the exact received bytes as text.
 */
export type InboundMessage = {
  /** As it was signed. */
  readonly statement: Statement
  /** The statement's label in the terms of the site's policy. */
  readonly label: Label
  /** True when people released the message under this label, which replaces the labels of body and statement. */
  readonly is_label_released?: boolean
  readonly body: Readonly<Record<string, unknown>>
  readonly signer_key_id: string
  readonly envelope: string
  readonly body_text: string
}

/**
 * Outcome of a delivery: `applied` (also when it already was), `refused` for good, `later` for a retry, or `set_aside`
 * while the site does not run the role that takes the message.
 */
export type DeliveryVerdict =
  | { readonly verdict: 'applied' }
  | { readonly verdict: 'refused'; readonly code: string; readonly detail: string }
  | { readonly verdict: 'later'; readonly detail: string }
  | { readonly verdict: 'set_aside'; readonly detail: string }

/**
 * At-least-once delivery of signed envelopes. `send` resolves once the message is durable and will go out, and gives
 * the same answer to a repeated event id. Received messages go to the handler given at start, each in a trace that
 * begins with it: kinds that commute run concurrently, other messages one at a time in the order of their channel. A
 * message is acknowledged to the carrier only after an `applied` or `refused` verdict, or once it is safely set aside.
 * Messages for one role never wait for another role.
 */
export interface Transport {
  readonly name: 'filedrop'
  /** Present on a transport without acknowledgements. */
  readonly oneWay?: OneWayControl
  /** Present on a transport that stores quarantined and sent files. */
  readonly custody?: Custody
  /** Present on a transport whose messages a network carrier may move. */
  readonly handover?: Handover
  send(message: OutboundMessage, trace: Trace): Promise<{ msg_id: string; epoch: number; seq: number }>
  start(deliver: (message: InboundMessage, trace: Trace) => Promise<DeliveryVerdict>): Promise<void>
  status(): Promise<ChannelStatus[]>
  health(): Promise<{ ok: boolean; detail: string }>
  stop(): Promise<void>
}
