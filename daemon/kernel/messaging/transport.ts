// Messages between sites: the signed statement, what may travel, and what every carrier promises.
import * as z from 'zod'
import { type Label, label } from '../label/label.ts'
import type { Trace } from '../telemetry/trace.ts'
import type { Handover } from './carrier.ts'
import type { ChannelStatus } from './channel-status.ts'
import type { Custody } from './custody.ts'
import type { OneWayControl } from './one-way-control.ts'

export const messageKind = z.enum([
  'invitation',
  'contribution',
  'result',
  'lens_emission',
  'signal',
  'resolution',
  'keys',
  'inventory',
  'gap_receipt',
])
export type MessageKind = z.infer<typeof messageKind>

/** What roles and people send. The others a site says of itself: nobody is to put words about it into its mouth. */
export const sendableKind = messageKind.exclude(['keys', 'inventory', 'gap_receipt'])

export const siteName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/)
export const hex96 = z.string().regex(/^[0-9a-f]{96}$/)

/** The signed statement, version 1; the envelope is a JWS over its bytes, the body travels beside it. */
export const statement = z.strictObject({
  v: z.literal(1),
  type: z.literal('platform.message'),
  channel: z.string().min(1).max(128),
  src: siteName,
  dst: siteName,
  sender_tenant_id: z.string().min(1).max(128),
  receiver_tenant_id: z.string().min(1).max(128),
  epoch: z.int().min(1).max(99_999_999),
  seq: z.int().min(1).max(Number.MAX_SAFE_INTEGER),
  prev: hex96.meta({ description: 'SHA-384 of the statement before on this channel and epoch; zeros for the first' }),
  msg_id: z.string().regex(/^msg_[0-9a-f]{32}$/),
  kind: messageKind,
  created: z.iso.datetime(),
  not_after: z.iso.datetime(),
  body: z.strictObject({ sha384: hex96, length: z.int().min(0), schema: z.string().min(1).max(128) }),
  label,
  parent_block_ids: z.array(z.string().regex(/^[0-9a-f]{64}$/)).max(64),
  max_hops: z.int().min(0).max(16),
})
/** As the newest version has it; `v`: the version that it came in, or goes out in. */
export type Statement = Omit<z.infer<typeof statement>, 'v'> & { readonly v: number }

/** The body that travels beside the envelope: plain JSON that a guard can read; repeats label and schema of the statement. */
export const messageBody = z.strictObject({
  label,
  schema: z.string().min(1).max(128),
  data: z.record(z.string(), z.unknown()),
})
export type MessageBody = z.infer<typeof messageBody>

/** The body of a message that people have let in though it does not say its label. */
export const unlabelledBody = messageBody.extend({ label: label.nullish() })

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

/** A message that passed every check of the carrier. `envelope` and `body_text` are the exact received bytes as text. */
export type InboundMessage = {
  /** As it was signed. */
  readonly statement: Statement
  /** The statement's label in the terms of the site's policy. */
  readonly label: Label
  /** People let it in under this label: what body and statement say of it does not count. */
  readonly is_label_released?: boolean
  readonly body: Readonly<Record<string, unknown>>
  readonly signer_key_id: string
  readonly envelope: string
  readonly body_text: string
}

/** What became of a delivery: `applied` (also when it had been before), `refused` for good, or `later` for another try. */
export type DeliveryVerdict =
  | { readonly verdict: 'applied' }
  | { readonly verdict: 'refused'; readonly code: string; readonly detail: string }
  | { readonly verdict: 'later'; readonly detail: string }

/**
 * At-least-once carriage of signed envelopes. `send` resolves once the message is durable and will go out, and gives
 * the same answer to a repeated event id. Received messages go to the handler given at start, each in a trace that begins
 * with it: those whose kinds commute side by side, the others in the order of a channel and alone. A message is
 * acknowledged to the carrier only after an `applied` or `refused` verdict.
 */
export interface Transport {
  readonly name: 'filedrop'
  /** For a carrier that is told of no arrival. */
  readonly oneWay?: OneWayControl
  /** For a carrier that keeps what it carries. */
  readonly custody?: Custody
  /** For a carrier whose messages a network may move. */
  readonly handover?: Handover
  send(message: OutboundMessage, trace: Trace): Promise<{ msg_id: string; epoch: number; seq: number }>
  start(deliver: (message: InboundMessage, trace: Trace) => Promise<DeliveryVerdict>): Promise<void>
  status(): Promise<ChannelStatus[]>
  health(): Promise<{ ok: boolean; detail: string }>
  stop(): Promise<void>
}
