// A network between sites: it takes what lies ready here to the peer's site, and brings what that one has sent.
import type { MessageNumber } from './journal.ts'

/** One message as file-drop keeps it: the exact bytes of both files. Nothing of it has been checked by a carrier. */
export type CarriedMessage = MessageNumber & { readonly envelope: Uint8Array; readonly body: Uint8Array }

/**
 * What became of a parcel at the peer's site. `landed`: it is on disk there, and will be judged. `in_the_way`: other
 * bytes wait there under its number. `full`: nothing is taken now. `too_large`: that site never takes so much at once. Of all
 * but the first it is for the sender to try again.
 */
export type CarryOutcome = 'landed' | 'in_the_way' | 'full' | 'too_large'

/** Nothing was taken, and the peer has said for how long it takes nothing. */
export class PeerBusyError extends Error {
  readonly wait_ms: number

  constructor(message: string, wait_ms: number) {
    super(message)
    this.name = 'PeerBusyError'
    this.wait_ms = wait_ms
  }
}

export type HandoverRequest = {
  /** Messages at most. */
  readonly limit: number
  /** Those that are not to be offered. */
  readonly skip?: (number: MessageNumber) => boolean
  /**
   * See `Carrier.carry`. Aborted when the messages may not leave any more; whoever decided that waits for its end. What it
   * was given is let go of with it.
   */
  readonly carry: (parcels: readonly CarriedMessage[], signal: AbortSignal) => Promise<readonly CarryOutcome[]>
}

/** `kept_back`: it is not to leave as things are, or is not whole. */
export type HandoverResult = MessageNumber & { readonly outcome: CarryOutcome | 'kept_back' }

/**
 * Where file-drop meets a network. The folders of a channel are what both sides share with a courier: a link whose network
 * is down goes on by disk, and loses no number.
 */
export interface Handover {
  /**
   * Gives what lies ready for the peer and may leave to `carry`, lowest number first, bounded in bytes for all peers
   * together; what has landed there is not offered again. Resolves with what became of each that was looked at, empty when
   * there was none, or all was called back. Throws what `carry` throws.
   */
  offer(peer: string, handing: HandoverRequest): Promise<readonly HandoverResult[]>
  /**
   * Lays what a peer has sent where the intake looks, in the order given; durable when it resolves. What is not whole by its
   * own word never will be, and goes to quarantine: it counts as landed, and its number is free. Throws
   * `Refusal('unavailable')` while the channel from the peer stands, and `('not_found')` for one that is not pinned.
   */
  receive(peer: string, parcels: readonly CarriedMessage[]): Promise<CarryOutcome[]>
  /** Resolves when the intake has been through all that had landed before the call: each is applied, put away, or waits. */
  whenProcessed(peer: string): Promise<void>
  /** Tells when something may lie ready for a peer; may tell too often, never too seldom. Returns how to end that. */
  onReady(tell: (peer: string) => void): () => void
}

/** Takes in what a peer has sent; see `Handover.land`. */
export type MessageReceiver = (peer: string, parcels: readonly CarriedMessage[]) => Promise<readonly CarryOutcome[]>

/** See `Handover.judged`. */
export type IntakeBarrier = (peer: string) => Promise<void>

export interface Carrier {
  readonly name: 'mtls' | 'amqp' | 'coalition'
  /** Peers that it goes to. */
  readonly peers: readonly string[]
  /**
   * Resolves with what became of each, in the order given, once that is certain. Throws when it cannot be known, or the
   * peer cannot be reached: then all are tried again, and doubles are found at the other end. `Busy` is such a throw. Once
   * it has ended, by the signal too, nothing of the parcels leaves this process any more.
   */
  carry(peer: string, parcels: readonly CarriedMessage[], signal: AbortSignal): Promise<readonly CarryOutcome[]>
  /**
   * Begins to bring. What a peer sends is acknowledged to it only after `land` has resolved, and as that says. A network
   * that keeps what it brings until it is told otherwise waits for `judged` as well.
   */
  start(land: MessageReceiver, judged: IntakeBarrier): Promise<void>
  health(): Promise<{ ok: boolean; detail: string }>
  /** Nothing is brought any more; what is under way is waited for. */
  stop(): Promise<void>
}
