// Who has messages of this site in hand to take them away: whoever orders that they stay calls them back, and waits.
import type { Parcel } from '../../../../daemon/kernel/carrier.ts'
import { oneByOne } from '../one-at-a-time.ts'

export type Claim = {
  /** Aborted when the messages are called back: then nothing more of them may leave. */
  readonly signal: AbortSignal
  callBack(): void
  /** What is in hand, as soon as it is read. */
  parcels: readonly Parcel[]
}

/** What was in hand when it was called back: it may have left, in part or whole. */
export type UnderWay = { readonly peer: string; readonly parcel: Parcel }

export type Claims = {
  /**
   * Runs `act`, alone of its peer; what is to leave is read by it and no earlier. When it has ended nothing leaves any
   * more.
   */
  hold<T>(peer: string, act: (claim: Claim) => Promise<T>): Promise<T>
  /** Ends all that had begun before the call, for one peer or for all. What begins later finds what was decided before. */
  callBack(peer?: string): Promise<readonly UnderWay[]>
}

/** Held while messages of a peer are in hand, so that other processes can wait for that. */
export type Hold = (peer: string) => Promise<{ release(): void }>

type Open = { readonly peer: string; readonly claim: Claim; readonly ended: Promise<void> }

export function claims(hold: Hold): Claims {
  const open = new Set<Open>()
  const turns = new Map<string, ReturnType<typeof oneByOne>>()
  const run = async <T>(peer: string, act: (claim: Claim) => Promise<T>): Promise<T> => {
    const lock = await hold(peer)
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    const abort = new AbortController()
    const claim: Claim = { signal: abort.signal, callBack: () => abort.abort(), parcels: [] }
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
      const alone = turns.get(peer) ?? oneByOne()
      turns.set(peer, alone)
      return alone(() => run(peer, act))
    },
    async callBack(peer) {
      const called = [...open].filter((each) => peer === undefined || each.peer === peer)
      for (const { claim } of called) claim.callBack()
      await Promise.all(called.map(({ ended }) => ended))
      return called.flatMap((each) => each.claim.parcels.map((parcel) => ({ peer: each.peer, parcel })))
    },
  }
}
