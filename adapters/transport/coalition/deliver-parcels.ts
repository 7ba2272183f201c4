// Delivers messages for a peer to the hub, several in parallel, and returns the outcome of each.
import { type CarriedMessage, type CarryOutcome, PeerBusyError } from '../../../daemon/kernel/messaging/carrier.ts'
import { type HubClient, HubRefusal } from './hub-client.ts'

/** A hub makes them durable together. */
const max_parallel_parcels = 8
/** How long a hub that says nothing of it is left alone. */
const default_retry_ms = 5_000

/** See `Carrier.carry`. */
export async function deliverParcels(
  hub: HubClient,
  peer: string,
  parcels: readonly CarriedMessage[],
  signal: AbortSignal,
): Promise<CarryOutcome[]> {
  const landings: CarryOutcome[] = []
  for (let at = 0; at < parcels.length && !landings.includes('full'); at += max_parallel_parcels) {
    const some = parcels.slice(at, at + max_parallel_parcels)
    // Waits for all requests, also after a failure: none is active any more when this has ended.
    const answers = await Promise.allSettled(some.map((each) => hub.deliver(peer, each, signal)))
    landings.push(...answers.map((answer) => (answer.status === 'fulfilled' ? 'landed' : toLanding(answer.reason))))
    const busy = answers.flatMap((answer) => (answer.status === 'rejected' ? retryDelays(answer.reason) : []))
    if (busy.length > 0 && !landings.includes('landed'))
      throw new PeerBusyError('the hub accepts no messages at present', Math.max(...busy))
  }
  return parcels.map((_, index) => landings[index] ?? 'full')
}

/** Throws what says nothing of the message: it may be there or not. */
function toLanding(error: unknown): CarryOutcome {
  if (retryDelays(error).length > 0) return 'full'
  if (error instanceof HubRefusal && error.status === 413) return 'too_large'
  throw error
}

/** Milliseconds for which a refusal of the hub (429, 503) requests a pause; empty for other errors. */
function retryDelays(error: unknown): number[] {
  if (!(error instanceof HubRefusal) || (error.status !== 429 && error.status !== 503)) return []
  return [error.retry_ms ?? default_retry_ms]
}
