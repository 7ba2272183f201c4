// The journal of a transport: messages sent under each number, and the state of each that arrived.
import type { AuditEvent } from '../audit/audit-chain.ts'
import type { Label } from '../label/label.ts'
import type { FirstSeenTimes, NameRange } from '../store/name-range.ts'
import type { ScrubOutcome } from '../store/store.ts'
import type {
  ArrivalOutcome,
  LedgerEntry,
  MessageArrival,
  QuarantineEntryId,
  QuarantineRecord,
  SetAsideMessage,
  SetAsideRecord,
} from './ledger.ts'
import type { MessageKind } from './message-kind.ts'
import type { PurgeFinds, PurgeOrder, SentBody } from './purge-records.ts'

export type ChannelDirection = 'out' | 'in'

/**
 * One direction of one link, under the name in its statements. `enrolling` until its folders, or their equivalent,
 * exist; `frozen` until a person opens it again.
 */
export type JournalChannel = {
  readonly channel: string
  readonly peer: string
  readonly direction: ChannelDirection
  readonly state: 'enrolling' | 'open' | 'frozen'
  readonly epoch: number
  readonly detail: string
  /** Number of the last inventory sent or taken in; 0 before the first. */
  readonly inventory: number
  /** Time of the last inventory, in epoch milliseconds. */
  readonly inventory_at: number
  readonly sent: number
  readonly received: number
  readonly duplicates: number
}

/**
 * `SPOOLED`: durable here. `PUBLISHED`: the carrier can take it. `PICKED_UP`: the carrier took it; no proof of
 * arrival. `ASSUMED`: it has expired, so it has arrived or never will. `ACKNOWLEDGED`: a signature of the receiver
 * confirms it. `PURGED`: its body was removed from this site by order; it is never published, nor sent again.
 */
export type SentState = 'SPOOLED' | 'PUBLISHED' | 'PICKED_UP' | 'ASSUMED' | 'ACKNOWLEDGED' | 'PURGED'

/** One signed message; `digest` is the SHA-384 of its statement's bytes, and of the next one's `prev`. */
export type SealedMessage = {
  readonly epoch: number
  readonly seq: number
  readonly event_id: string
  readonly msg_id: string
  readonly kind: MessageKind
  readonly digest: string
  /** The exact bytes to publish, as text: the same for every repeat. */
  readonly envelope: string
  readonly body: string
  /** Epoch milliseconds. */
  readonly at: number
  /** Epoch milliseconds: the end of its validity, from its statement. */
  readonly not_after: number
}

/** Stored for every sent number. `taken`: when the carrier was observed to have it, in epoch milliseconds. */
export type SentEntry = {
  readonly epoch: number
  readonly seq: number
  readonly kind: MessageKind
  readonly digest: string
  readonly state: SentState
  /** Absent before that time, and after its files were removed. */
  readonly taken?: number
}

/**
 * Messages of a channel that no carrier has taken. `oldest`: arrival of the oldest of them, or of an incomplete file
 * set, in epoch milliseconds.
 */
export type Backlog = { readonly spooled: number; readonly published: number; readonly oldest?: number }

export type SentHead = { readonly epoch: number; readonly seq: number; readonly digest: string | undefined }

/** Of one channel and epoch: every number up to `floor` has arrived or was skipped; so have `arrived` of those beyond. */
export type ReceiveProgress = { readonly floor: number; readonly highest: number; readonly arrived: number }

export type Gap = { readonly first: number; readonly last: number }

export type MessageNumber = { readonly epoch: number; readonly seq: number }

/** A release by two people: passes over one reason, once, for exactly these bytes. All digests are SHA-384. */
export type Waiver = MessageNumber & {
  /** The item of the quarantine that the waiver releases. */
  readonly item: string
  readonly statement: string
  readonly envelope: string
  readonly body: string
  readonly reason: string
  /** The label under which the message was released; absent: its own. */
  readonly label?: Label
}

/**
 * Durable when a promise resolves; every step may be repeated after a crash and then changes nothing. Events of the
 * audit chain go into the same transaction. A failing disk is `Refusal('unavailable')`.
 */
export interface Journal {
  channels(): Promise<JournalChannel[]>
  /** Registers a channel as `enrolling`; returns a registered one as it is. */
  registerChannel(channel: Pick<JournalChannel, 'channel' | 'peer' | 'direction' | 'epoch'>): Promise<JournalChannel>
  setState(
    channel: string,
    state: JournalChannel['state'],
    detail: string,
    audit?: readonly AuditEvent[],
  ): Promise<void>

  /** Opens a later epoch of an incoming channel, before its first inventory; one that is not later changes nothing. */
  advance(channel: string, epoch: number, audit: readonly AuditEvent[]): Promise<void>

  findSent(channel: string, event_id: string): Promise<Omit<SealedMessage, 'envelope' | 'body'> | undefined>
  /** The last number of the channel's current epoch; `digest` is absent before the first message. */
  head(channel: string): Promise<SentHead>
  /** Appends messages that continue the head without a gap; `behind`, with nothing written, when they do not. */
  append(channel: string, messages: readonly SealedMessage[]): Promise<'appended' | 'behind'>
  backlog(channel: string): Promise<Backlog>
  /** The oldest messages in this state, with their bytes. */
  outbox(channel: string, state: 'SPOOLED' | 'PUBLISHED', limit: number): Promise<SealedMessage[]>
  /** Numbers of the messages in this state, oldest first. */
  numbers(channel: string, state: SentState): Promise<MessageNumber[]>
  get(channel: string, epoch: number, seq: number): Promise<SealedMessage | undefined>
  /** A message never goes back to an earlier state. `PICKED_UP` drops its bytes: they are kept as files since `at`. */
  mark(channel: string, numbers: readonly MessageNumber[], state: SentState, at: number): Promise<void>
  /** Marks picked-up messages that expired before `now` as `ASSUMED`, at most `limit`; resolves with their count. */
  assume(channel: string, now: number, limit: number): Promise<number>
  /**
   * Marks picked-up messages up to this number as `ACKNOWLEDGED`, lowest first, at most `limit`, and stops before the
   * first that still waits here. Resolves with the number up to which all are acknowledged.
   */
  acknowledge(channel: string, epoch: number, floor: number, limit: number): Promise<number>
  /** Digests of the statements of the last `limit` numbers of the current epoch, lowest first. */
  digests(channel: string, limit: number): Promise<string[]>
  /** The numbers sent from `first` to `last`, lowest first, at most `limit`. */
  sentRun(channel: string, epoch: number, first: number, last: number, limit: number): Promise<SentEntry[]>
  /**
   * Opens a frozen or open channel's later epoch with its first message, all in one step; `behind`, with nothing written, when
   * the epoch is not later than the current one.
   */
  openEpoch(channel: string, first: SealedMessage, audit: readonly AuditEvent[]): Promise<'opened' | 'behind'>

  /** Messages whose files are kept, in `sent` or `done`, since before this instant, oldest first. */
  retained(channel: string, before: number, limit: number): Promise<MessageNumber[]>
  /** Records that their files are gone; the entries of the messages stay. */
  dropRetained(channel: string, numbers: readonly MessageNumber[]): Promise<void>

  entry(channel: string, epoch: number, seq: number): Promise<LedgerEntry | undefined>
  /** Entries of these numbers; none for a number that never arrived. */
  entries(channel: string, numbers: readonly MessageNumber[]): Promise<LedgerEntry[]>
  /** Those of these numbers that a person gave up, and that have not arrived since. */
  skipped(channel: string, numbers: readonly MessageNumber[]): Promise<MessageNumber[]>
  progress(channel: string, epoch: number): Promise<ReceiveProgress>
  /** The runs of numbers that are missing below the highest, lowest first. */
  gaps(channel: string, epoch: number, limit: number): Promise<Gap[]>
  /**
   * Enters arrivals, all in one transaction; an existing entry wins and is returned in its place. A lost
   * entry is received again, if it is the same statement. An arrival takes the place of a skipped number.
   */
  receive(channel: string, arrivals: readonly MessageArrival[]): Promise<LedgerEntry[]>
  /** Ends arrivals, all in one transaction, and forgets their attempts; a final state stays. */
  recordOutcomes(channel: string, settlements: readonly ArrivalOutcome[]): Promise<void>
  /** Freezes the channel: its sender signed two statements under each number. `known`: it was reported before. */
  dispute(
    channel: string,
    detail: string,
    numbers: readonly MessageNumber[],
    audit: readonly AuditEvent[],
  ): Promise<'frozen' | 'known'>
  /** Remembers the last inventory of the channel's epoch that was taken in, and when; an older one changes nothing. */
  noteInventory(channel: string, number: MessageNumber, at: number): Promise<void>
  /** After a restore: the numbers that the sender has used are unknown until its next inventory. */
  forgetInventory(channel: string): Promise<void>
  /** Messages that are received and have no open waiver, lowest first. */
  unfinished(channel: string): Promise<LedgerEntry[]>
  /** Messages that wait for a role, lowest first. */
  setAside(channel: string): Promise<SetAsideMessage[]>
  /** Sets received messages aside, with their audit events, in one transaction; any other entry stays as it is. */
  recordSetAside(channel: string, messages: readonly SetAsideRecord[]): Promise<void>
  /**
   * Records that these missing numbers are given up, with audit events, in one transaction; the others stay as they
   * are. Resolves with their count.
   */
  skip(channel: string, numbers: readonly MessageNumber[], at: number, audit: readonly AuditEvent[]): Promise<number>
  /**
   * Gives each item of the quarantine its id, and files its audit event, once, in one transaction; a repeat finds the id. A
   * released item gets another one when it is quarantined again.
   */
  recordQuarantined(channel: string, records: readonly QuarantineRecord[]): Promise<QuarantineEntryId[]>
  /** Marks as lost those that wait, with audit events, in one transaction: they are missing again. */
  markLost(channel: string, numbers: readonly MessageNumber[], audit: readonly AuditEvent[]): Promise<void>
  /** Counts this many more messages that had arrived before. */
  countDuplicates(channel: string, count: number): Promise<void>

  /** Counts one more attempt that ended in a crash or an exception; resolves with their count, this one included. */
  countFailure(channel: string, epoch: number, seq: number): Promise<number>
  clearFailures(channel: string, epoch: number, seq: number): Promise<void>
  /** When (epoch ms) each began to wait for its other files: `now` for a new one. Other names of the range are dropped. */
  noteIncomplete(channel: string, names: readonly string[], now: number, range?: NameRange): Promise<FirstSeenTimes>

  /**
   * Enters a waiver, opens its number again if that ended in quarantine, and clears its failures, all in one step; an
   * open one for the same item changes nothing. `ended`: the number was applied or refused. `taken`: another item under
   * this number has an open waiver.
   */
  waive(channel: string, waiver: Waiver, audit: readonly AuditEvent[]): Promise<'waived' | 'ended' | 'taken'>
  /** Waivers that are not spent. */
  waivers(channel: string): Promise<Waiver[]>
  spendWaiver(channel: string, item: string): Promise<void>
  /**
   * Forgets an item that a person dismisses, with audit events, in one transaction: the same files get another one when
   * they arrive again. `released`: it has an open waiver, and nothing is written.
   */
  dismiss(channel: string, item: string, audit: readonly AuditEvent[]): Promise<'dismissed' | 'released'>

  /** Stores an order permanently; a repeated one changes nothing. */
  orderPurge(order: PurgeOrder, audit: readonly AuditEvent[]): Promise<void>
  purgeOrders(): Promise<PurgeOrder[]>
  purgeFinds(digest: string): Promise<PurgeFinds>
  addPurgeFinds(digest: string, finds: PurgeFinds): Promise<void>
  /**
   * Numbers of the messages on their way that match the digest, with SHA-384 of their bodies. `after`: the `next` of the
   * page before; the last page has none.
   */
  bytesFitting(digest: string, after: number): Promise<{ readonly found: readonly SentBody[]; readonly next?: number }>
  /** Drops the bytes of these and marks them `PURGED`, also those that the carrier has taken. */
  purgeSent(channel: string, numbers: readonly MessageNumber[]): Promise<void>
  /**
   * Removes dropped bytes from the file of the journal. `zeroed`: the file was too large to be rewritten, so free
   * pages of an earlier version may hold old bytes. `busy`: the log of writes holds them until it is written out.
   */
  scrub(): Promise<ScrubOutcome>
}
