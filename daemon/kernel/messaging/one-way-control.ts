// Control of a one-way channel, by files that people carry: gap receipts, resends and new epochs.
import * as z from 'zod'
import type { AuditEvent } from '../audit/audit-chain.ts'
import type { Jws } from '../cryptography/signatures.ts'
import { siteName } from './statement.ts'

const channel = z.string().min(1).max(128)
const epoch = z.int().min(1).max(99_999_999)
const seq = z.int().min(1).max(Number.MAX_SAFE_INTEGER)
const seqOrZero = z.int().min(0).max(Number.MAX_SAFE_INTEGER)

export const max_missing_runs = 1_024

/**
 * Signed by the receiver for one epoch of a channel: all numbers to `floor` have arrived; `missing` are the lowest
 * gaps.
 */
export const gapReceipt = z
  .strictObject({
    v: z.literal(1),
    type: z.literal('platform.gap_receipt'),
    channel,
    src: siteName.meta({ description: 'The site that made it: the receiver of the channel' }),
    dst: siteName.meta({ description: 'The sender of the channel' }),
    epoch,
    highest: seqOrZero,
    floor: seqOrZero,
    missing: z.array(z.strictObject({ first: seq, last: seq })).max(max_missing_runs),
    created: z.iso.datetime(),
    not_after: z.iso.datetime(),
  })
  .refine(({ floor, highest, missing }) => {
    const edges = missing.flatMap(({ first, last }) => [first, last])
    const rises = missing.every(
      ({ first, last }, index) => first <= last && first > (missing[index - 1]?.last ?? floor),
    )
    return floor <= highest && rises && (edges.at(-1) ?? 0) <= highest
  }, 'must be runs in rising order between floor and highest')
export type GapReceipt = z.infer<typeof gapReceipt>

/** Signed by the root keys of the sender before it sends in a later epoch of a channel. */
export const epochAnnouncement = z.strictObject({
  v: z.literal(1),
  type: z.literal('platform.epoch'),
  channel,
  src: siteName,
  dst: siteName,
  epoch,
  reason: z.enum(['restored', 'compromised', 'other']),
  created: z.iso.datetime(),
})
export type EpochAnnouncement = z.infer<typeof epochAnnouncement>

/** Schema and data of the messages of kind `keys`; one of the two. */
export const keys_schema = 'platform.keys/1'

/**
 * Why a number did not go out again. `label_denied`: it went under a ceiling that is lower now. `in_the_way`: other bytes
 * lie under its name where the carrier looks.
 */
export const resendFailure = z.enum([
  'never_sent',
  'not_kept',
  'lost',
  'damaged',
  'purged',
  'key_revoked',
  'label_denied',
  'in_the_way',
])
export type ResendFailure = z.infer<typeof resendFailure>

export const resendReport = z
  .strictObject({
    peer: z.string(),
    epoch: z.int(),
    resent: z.int().min(0).meta({ description: 'Messages that went out again' }),
    waiting: z.int().min(0).meta({ description: 'Messages that the carrier has not taken yet' }),
    not_resent: z.array(z.strictObject({ first: z.int(), last: z.int(), why: resendFailure })),
    announcement: z
      .enum(['resent', 'waiting', ...resendFailure.options])
      .optional()
      .meta({ description: 'That of the current epoch; absent where the receipt is about this one' }),
    next: z
      .int()
      .optional()
      .meta({ description: 'The first number that was not looked at any more; absent when all were' }),
  })
  .meta({ id: 'Resent', description: 'What went out again, what waits, and what cannot go' })
export type ResendReport = z.infer<typeof resendReport>

export type ResendRequest = {
  readonly peer: string
  readonly epoch?: number
  readonly first: number
  readonly last: number
}

/** Files of one channel whose time was over; `more`: there are others. */
export type ExpiredFiles = { readonly channel: string; readonly messages: number; readonly more: boolean }

/** `was`: why the channel was frozen. */
export type UnfrozenChannel = { readonly peer: string; readonly channel: string; readonly was: string }

/**
 * Every method throws `Refusal('not_found')` for a peer that is not pinned, and `('unavailable')` for a channel that
 * stands.
 */
export interface OneWayControl {
  /**
   * JWS `gap-receipt` over a `GapReceipt`: what is missing of what the peer has sent in this epoch, else the current
   * one.
   */
  gapReceipt(peer: string, epoch?: number): Promise<Jws>
  /**
   * Puts the identical bytes where the carrier takes them, of at most 1,000 numbers a call; `next` is the number to continue with.
   * Throws `Refusal('rate_limited')`.
   */
  resend(wanted: ResendRequest): Promise<ResendReport>
  /**
   * The same for what a peer's receipt names, from the number `from` on. Where the receipt is of an older epoch, also for
   * the end of that one which the peer has not heard of, and for the announcement of the current one. Throws `Refusal('signature_invalid')` and `('invalid')`.
   */
  resendFor(receipt: Jws, from?: number): Promise<ResendReport>
  /** The payload that the root keys must sign to open the next epoch towards the peer. */
  draftEpoch(peer: string): Promise<Omit<EpochAnnouncement, 'reason'>>
  /**
   * Sends the announcement as the first message of its epoch; durable with its audit events when it resolves. Throws
   * `Refusal('signature_invalid')`, `('invalid')`, `('conflict')`.
   */
  openEpoch(announcement: Jws, audit: (said: EpochAnnouncement) => readonly AuditEvent[]): Promise<EpochAnnouncement>
  /** Takes nothing of the peer any more until a person has looked; durable with its audit events when it resolves. */
  freeze(peer: string, detail: string, audit: readonly AuditEvent[]): Promise<void>
  /**
   * Takes messages of the peer again, in a channel that is frozen; durable with its audit events when it resolves. Throws
   * `Refusal('conflict')` for one that is not.
   */
  unfreeze(peer: string, audit: (what: UnfrozenChannel) => readonly AuditEvent[]): Promise<UnfrozenChannel>
  /** Removes files that were kept for longer than the channel keeps them. What is known of the messages stays. */
  dropOld(signal: AbortSignal): Promise<ExpiredFiles[]>
}
