// A network carrier between sites: takes the messages that are ready to the peer's site, and brings those of the peer.
import type { MessageNumber } from './journal.ts'
import type { LedgerEntry } from './ledger.ts'

/** One message as file-drop stores it: the exact bytes of both files, unchecked. */
export type CarriedMessage = MessageNumber & { readonly envelope: Uint8Array; readonly body: Uint8Array }

/**
 * Outcome of a message at the peer's site. `landed`: it is on disk there, and will be checked. `in_the_way`: other bytes
 * wait there under its number. `full`: that site takes nothing now. `too_large`: that site never takes a message of this
 * size. The sender tries again after each but the first.
 */
export type CarryOutcome = 'landed' | 'in_the_way' | 'full' | 'too_large'

/** The peer took nothing, and announced how long it will take nothing. */
export class PeerBusyError extends Error {
  readonly wait_ms: number

  constructor(message: string, wait_ms: number) {
    super(message)
    this.name = 'PeerBusyError'
    this.wait_ms = wait_ms
  }
}

/**
 * What became of a landed message. `waiting`: for earlier ones, for a role, or for the next attempt. `code`: as in the ledger;
 * empty for a message that is not proven to be its sender's, of which the ledger has no entry.
 */
export type LandedOutcome = {
  readonly outcome: 'waiting' | Extract<LedgerEntry['state'], 'applied' | 'refused' | 'quarantined'>
  readonly code: string
}

export type HandoverRequest = {
  /** Largest number of messages. */
  readonly limit: number
  /** True for a message that must not be offered. */
  readonly skip?: (number: MessageNumber) => boolean
  /**
   * See `Carrier.carry`. Aborted when the messages may no longer leave; the code that aborts it waits for its end. Locks on
   * the messages end with it.
   */
  readonly carry: (parcels: readonly CarriedMessage[], signal: AbortSignal) => Promise<readonly CarryOutcome[]>
}

/** `kept_back`: the message may not leave at present, or is not complete. */
export type HandoverResult = MessageNumber & { readonly outcome: CarryOutcome | 'kept_back' }

/**
 * The interface between file-drop and a network. Network and courier share the folders of a channel: a link whose network
 * is down continues by courier, and loses no number.
 */
export interface Handover {
  /**
   * Passes the messages that are ready for the peer and may leave to `carry`, lowest number first, bounded in bytes for all
   * peers together; a message that has landed is not offered again. Resolves with the outcome of each, empty when there was
   * none, or all were called back. Throws what `carry` throws.
   */
  offer(peer: string, request: HandoverRequest): Promise<readonly HandoverResult[]>
  /**
   * Puts the messages of a peer into the folder of the intake, in the order given; durable when it resolves. A message that
   * is shorter than it claims goes to quarantine: it counts as landed, and its number is free. Throws
   * `Refusal('unavailable')` while the channel from the peer is stopped, and `('not_found')` for a peer that is not pinned.
   */
  receive(peer: string, parcels: readonly CarriedMessage[]): Promise<CarryOutcome[]>
  /**
   * Resolves when the intake has processed all that had landed before the call: each is applied, quarantined, or waits.
   */
  whenProcessed(peer: string): Promise<void>
  /** The outcome of a message that has landed and been processed. `digest`: SHA-384 of its statement. */
  outcomeOf(peer: string, number: MessageNumber, digest: string): Promise<LandedOutcome>
  /**
   * Notifies when messages may be ready for a peer: perhaps too often, never too seldom. Returns a function that ends
   * it.
   */
  onReady(notify: (peer: string) => void): () => void
}

/** Receives the messages of a peer; see `Handover.receive`. */
export type MessageReceiver = (peer: string, parcels: readonly CarriedMessage[]) => Promise<readonly CarryOutcome[]>

/** See `Handover.whenProcessed`. */
export type IntakeBarrier = (peer: string) => Promise<void>

export interface Carrier {
  readonly name: 'mtls' | 'amqp' | 'coalition'
  /** Peers that the carrier serves. */
  readonly peers: readonly string[]
  /**
   * Resolves with the outcome of each, in the order given, once it is certain. Throws when it is unknown, or the peer cannot
   * be reached: then all are tried again, and the receiver drops duplicates. `PeerBusyError` is such a throw. Once it has
   * ended, also by the signal, no byte of the messages leaves this process.
   */
  carry(peer: string, parcels: readonly CarriedMessage[], signal: AbortSignal): Promise<readonly CarryOutcome[]>
  /**
   * Starts to receive. A message is acknowledged to its sender only after `land` has resolved, with that outcome. A network
   * that keeps a message until it is acknowledged, such as a broker, waits for `judged` as well.
   */
  start(land: MessageReceiver, judged: IntakeBarrier): Promise<void>
  health(): Promise<{ ok: boolean; detail: string }>
  /** Stops receiving, and waits for messages under way. */
  stop(): Promise<void>
}
