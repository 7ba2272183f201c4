// The memory of the carriers: what was sent under which number, and what became of everything that arrived.
import type { AuditEvent } from './audit.ts'
import type { MessageKind } from './transport.ts'

export type Direction = 'out' | 'in'

/**
 * One direction of one link, by the name that its statements carry. `enrolling` until its folders (or their like) are
 * made; `frozen` until a person has looked into it.
 */
export type Channel = {
  readonly channel: string
  readonly peer: string
  readonly direction: Direction
  readonly state: 'enrolling' | 'open' | 'frozen'
  readonly epoch: number
  readonly detail: string
  /** Number of the last inventory sent or taken in; 0 before the first. */
  readonly inventory: number
  readonly sent: number
  readonly received: number
  readonly duplicates: number
}

/** `SPOOLED`: durable here. `PUBLISHED`: the carrier can take it. `PICKED_UP`: the carrier took it; no proof of arrival. */
export type SentState = 'SPOOLED' | 'PUBLISHED' | 'PICKED_UP'

/** One signed message; `digest` is the SHA-384 of its statement's bytes, and of the next one's `prev`. */
export type Sealed = {
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
}

export type SentHead = { readonly epoch: number; readonly seq: number; readonly digest: string | undefined }

export type Arrival = {
  readonly epoch: number
  readonly seq: number
  readonly digest: string
  readonly prev: string
  readonly msg_id: string
  readonly kind: MessageKind
  /** Epoch milliseconds. */
  readonly at: number
}

/** `received`: taken in, its effect not yet certain. The others are final. */
export type ArrivalState = 'received' | 'applied' | 'refused' | 'quarantined'

/** What the ledger holds of a number. `code`: the problem code of a refusal, or the reason of a quarantine. */
export type LedgerEntry = Arrival & { readonly state: ArrivalState; readonly code: string }

/** Of one channel and epoch: every number up to `floor` has arrived; `arrived` of those beyond have. */
export type Progress = { readonly floor: number; readonly highest: number; readonly arrived: number }

export type Gap = { readonly first: number; readonly last: number }

export type Settlement = { readonly state: Exclude<ArrivalState, 'received'>; readonly code: string }

/**
 * Durable when a promise resolves; every step may be repeated after a crash and then changes nothing. Events of the
 * audit chain go into the same transaction. A failing disk is `Refused('unavailable')`.
 */
export interface Journal {
  channels(): Promise<Channel[]>
  /** Makes the channel known, `enrolling`; one that is known already is given back as it is. */
  introduce(channel: Pick<Channel, 'channel' | 'peer' | 'direction' | 'epoch'>): Promise<Channel>
  setState(channel: string, state: Channel['state'], detail: string, audit?: readonly AuditEvent[]): Promise<void>

  sent(channel: string, event_id: string): Promise<Omit<Sealed, 'envelope' | 'body'> | undefined>
  /** Where the channel's current epoch stands; `digest` is absent before the first message. */
  head(channel: string): Promise<SentHead>
  /** Appends messages that continue the head without a gap; `behind` when they do not, and nothing is written. */
  append(channel: string, messages: readonly Sealed[]): Promise<'appended' | 'behind'>
  /** The oldest messages in this state, with their bytes; those of `PICKED_UP` have none. */
  outbox(channel: string, state: Exclude<SentState, 'PICKED_UP'>, limit: number): Promise<Sealed[]>
  /** Numbers of the messages in this state, oldest first. */
  numbers(channel: string, state: SentState): Promise<{ epoch: number; seq: number }[]>
  get(channel: string, epoch: number, seq: number): Promise<Sealed | undefined>
  /** A message never goes back to an earlier state; `PICKED_UP` drops its bytes. */
  mark(channel: string, numbers: readonly { epoch: number; seq: number }[], state: SentState): Promise<void>

  entry(channel: string, epoch: number, seq: number): Promise<LedgerEntry | undefined>
  progress(channel: string, epoch: number): Promise<Progress>
  /** The runs of numbers that are missing below the highest, lowest first. */
  gaps(channel: string, epoch: number, limit: number): Promise<Gap[]>
  /** Enters an arrival; the entry that is there already wins and is given back. */
  receive(channel: string, arrival: Arrival): Promise<LedgerEntry>
  /** Ends an arrival and forgets its attempts; a final state stays. */
  settle(channel: string, epoch: number, seq: number, outcome: Settlement, audit?: readonly AuditEvent[]): Promise<void>
  duplicate(channel: string): Promise<void>

  /** Counts one more attempt that ended in a crash or an exception; how many there were, this one included. */
  failed(channel: string, epoch: number, seq: number): Promise<number>
  forgive(channel: string, epoch: number, seq: number): Promise<void>
  /**
   * Since when (epoch milliseconds) each of these has been waiting to become complete: `now` for a new one. Names that
   * are not given are forgotten.
   */
  waiting(channel: string, names: readonly string[], now: number): Promise<ReadonlyMap<string, number>>
}
