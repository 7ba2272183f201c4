// Leaves messages with the hub for a peer, some side by side, and says what became of each.
import { Busy, type Landing, type Parcel } from '../../../daemon/kernel/carrier.ts'
import { type Hub, HubRefusal } from './hub.ts'

/** A hub makes them durable together. */
const side_by_side = 8
/** How long a hub that says nothing of it is left alone. */
const usual_wait_ms = 5_000

/** See `Carrier.carry`. */
export async function deliverAll(
  hub: Hub,
  peer: string,
  parcels: readonly Parcel[],
  signal: AbortSignal,
): Promise<Landing[]> {
  const landings: Landing[] = []
  for (let at = 0; at < parcels.length && !landings.includes('full'); at += side_by_side) {
    const some = parcels.slice(at, at + side_by_side)
    // All are waited for, whatever becomes of one: none is under way any more when this has ended.
    const answers = await Promise.allSettled(some.map((each) => hub.deliver(peer, each, signal)))
    landings.push(...answers.map((answer) => (answer.status === 'fulfilled' ? 'landed' : landingOf(answer.reason))))
    const busy = answers.flatMap((answer) => (answer.status === 'rejected' ? busyOf(answer.reason) : []))
    if (busy.length > 0 && !landings.includes('landed')) throw new Busy('the hub takes nothing now', Math.max(...busy))
  }
  return parcels.map((_, index) => landings[index] ?? 'full')
}

/** Throws what says nothing of the message: it may be there or not. */
function landingOf(error: unknown): Landing {
  if (busyOf(error).length > 0) return 'full'
  if (error instanceof HubRefusal && error.status === 413) return 'too_large'
  throw error
}

/** How long it asks to be left alone, where that is what it says. */
function busyOf(error: unknown): number[] {
  if (!(error instanceof HubRefusal) || (error.status !== 429 && error.status !== 503)) return []
  return [error.retry_ms ?? usual_wait_ms]
}
