// Control of a one-way channel, by files that people carry: gap receipts, resends and new epochs.
import * as z from 'zod'
import type { AuditEvent } from '../audit/audit-chain.ts'
import type { Jws } from '../cryptography/signatures.ts'
import { siteName } from './statement.ts'
import type { WaitingMessage } from './waiting-message.ts'

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
    src: siteName.meta({ description: 'The site that signed it: the receiver of the channel' }),
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
  }, 'must be ascending runs between floor and highest')
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

/** Schema of messages of kind `keys`. */
export const keys_schema = 'platform.keys/1'

/**
 * Why a number was not sent again. `label_denied`: it was sent under a ceiling that is lower now. `in_the_way`: other
 * bytes occupy its name where the carrier looks.
 */
const resendFailure = z.enum([
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
    resent: z.int().min(0).meta({ description: 'Messages that were sent again' }),
    waiting: z.int().min(0).meta({ description: 'Messages that the carrier has not taken yet' }),
    not_resent: z.array(z.strictObject({ first: z.int(), last: z.int(), why: resendFailure })),
    announcement: z
      .enum(['resent', 'waiting', ...resendFailure.options])
      .optional()
      .meta({ description: 'Announcement of the current epoch; absent where the receipt is for the current epoch' }),
    next: z.int().optional().meta({ description: 'The first number that was not processed; absent when all were' }),
  })
  .meta({
    id: 'Resent',
    description: 'Messages that were sent again, messages that wait, and messages that cannot be sent',
  })
export type ResendReport = z.infer<typeof resendReport>

export type ResendRequest = {
  readonly peer: string
  readonly epoch?: number
  readonly first: number
  readonly last: number
}

/** Numbers of one epoch, by default the current one. */
export type NumberRange = { readonly epoch?: number | undefined; readonly first: number; readonly last: number }

/** `numbers`: that were missing, or whose messages waited. */
export type RangeDecision = { readonly peer: string; readonly epoch: number; readonly numbers: number }

/**
 * Whether later numbers than a receipt knows of may be missing as well: no inventory of the epoch has arrived since the epoch
 * began or the site was restored. `inventory_at`: of the last inventory, of any epoch. `is_requested`: an accredited
 * acknowledgement will show the peer that one is needed.
 */
export type InventoryState = {
  readonly is_inventory_pending: boolean
  readonly inventory_at?: string
  readonly is_requested: boolean
}

/** Removed files of one channel. `more`: further expired files remain. */
export type ExpiredFiles = { readonly channel: string; readonly messages: number; readonly more: boolean }

/** A channel that was frozen. `was`: the reason of the freeze. */
export type UnfrozenChannel = { readonly peer: string; readonly channel: string; readonly was: string }

/**
 * Every method throws `Refusal('not_found')` for a peer that is not pinned, and `('unavailable')` for a channel that
 * is stopped.
 */
export interface OneWayControl {
  /**
   * Signs a JWS `gap-receipt` over a `GapReceipt`: the numbers missing from the peer in this epoch, by default the
   * current one.
   */
  gapReceipt(peer: string, epoch?: number): Promise<Jws>
  inventoryState(peer: string, epoch?: number): Promise<InventoryState>
  /** Messages of the peer that cannot be applied yet, lowest number first. */
  waiting(peer: string): Promise<readonly WaitingMessage[]>
  /**
   * Gives missing numbers up, so that messages behind them are applied; durable with its audit events when it resolves, and a
   * repeat changes nothing. Throws `Refusal('conflict')` while the channel takes nothing in.
   */
  skip(peer: string, range: NumberRange, audit: (channel: string) => readonly AuditEvent[]): Promise<RangeDecision>
  /**
   * Moves messages that cannot be applied yet to quarantine; otherwise as `skip`. `reason`: of the person, for the reason file.
   */
  discard(
    peer: string,
    range: NumberRange,
    reason: string,
    audit: (channel: string) => readonly AuditEvent[],
  ): Promise<RangeDecision>
  /**
   * Publishes the identical bytes again, of at most 1,000 numbers a call. `next` is the number to continue with.
   * Throws `Refusal('rate_limited')`.
   */
  resend(request: ResendRequest): Promise<ResendReport>
  /**
   * Sends again the messages that a peer's receipt names, from the number `from` on. For a receipt of an older epoch
   * this includes the end of that epoch and the announcement of the current one. Throws
   * `Refusal('signature_invalid')` and `('invalid')`.
   */
  resendFor(receipt: Jws, from?: number): Promise<ResendReport>
  /** The payload that the root keys must sign to open the next epoch towards the peer. */
  draftEpoch(peer: string): Promise<Omit<EpochAnnouncement, 'reason'>>
  /**
   * Sends the announcement as the first message of its epoch; durable with its audit events when it resolves. Throws
   * `Refusal('signature_invalid')`, `('invalid')`, `('conflict')`.
   */
  openEpoch(
    announcement: Jws,
    audit: (announcement: EpochAnnouncement) => readonly AuditEvent[],
  ): Promise<EpochAnnouncement>
  /**
   * Stops taking in messages of the peer until a person unfreezes the channel; durable with its audit events when it
   * resolves.
   */
  freeze(peer: string, detail: string, audit: readonly AuditEvent[]): Promise<void>
  /**
   * Takes in messages of the peer again after a freeze; durable with its audit events when it resolves. Throws
   * `Refusal('conflict')` for a channel that is not frozen.
   */
  unfreeze(peer: string, audit: (unfrozen: UnfrozenChannel) => readonly AuditEvent[]): Promise<UnfrozenChannel>
  /** Removes files that have exceeded the retention of their channel. The records of the messages stay. */
  dropOld(signal: AbortSignal): Promise<ExpiredFiles[]>
}
