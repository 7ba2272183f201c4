// Claims on messages that a network carrier is sending: a purge recalls them and waits until they are released.
import type { CarriedMessage } from '../../../../../daemon/kernel/messaging/carrier.ts'
import { serialQueue } from '../../serial-work.ts'

export type ParcelClaim = {
  /** Aborted when the messages are called back: then nothing more of them may leave. */
  readonly signal: AbortSignal
  recall(): void
  /** The messages in hand, as soon as they are read. */
  parcels: readonly CarriedMessage[]
}

/** A message in hand when it was recalled: it may have left, in part or whole. */
export type RecalledParcel = { readonly peer: string; readonly parcel: CarriedMessage }

export type ParcelClaims = {
  /**
   * Runs `act`, one at a time per peer; it reads the messages to send itself, and no earlier. When it has ended nothing
   * leaves any more.
   */
  hold<T>(peer: string, act: (claim: ParcelClaim) => Promise<T>): Promise<T>
  /** Ends all that had begun before the call, for one peer or for all. What begins later finds what was decided before. */
  recall(peer?: string): Promise<readonly RecalledParcel[]>
}

/** Held while messages of a peer are in hand, so that other processes can wait for that. */
export type PeerLock = (peer: string) => Promise<{ release(): void }>

type OpenClaim = { readonly peer: string; readonly claim: ParcelClaim; readonly ended: Promise<void> }

export function parcelClaims(hold: PeerLock): ParcelClaims {
  const open = new Set<OpenClaim>()
  const turns = new Map<string, ReturnType<typeof serialQueue>>()
  const run = async <T>(peer: string, act: (claim: ParcelClaim) => Promise<T>): Promise<T> => {
    const lock = await hold(peer)
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    const abort = new AbortController()
    const claim: ParcelClaim = { signal: abort.signal, recall: () => abort.abort(), parcels: [] }
    const entry = { peer, claim, ended }
    open.add(entry)
    try {
      return await act(claim)
    } finally {
      open.delete(entry)
      lock.release()
      end()
    }
  }
  return {
    hold(peer, act) {
      const alone = turns.get(peer) ?? serialQueue()
      turns.set(peer, alone)
      return alone(() => run(peer, act))
    },
    async recall(peer) {
      const called = [...open].filter((each) => peer === undefined || each.peer === peer)
      for (const { claim } of called) claim.recall()
      await Promise.all(called.map(({ ended }) => ended))
      return called.flatMap((each) => each.claim.parcels.map((parcel) => ({ peer: each.peer, parcel })))
    },
  }
}
