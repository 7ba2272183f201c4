// Brings what waits at the hub: lands it, and only then tells the hub that it may forget it.

import type { Log } from '../../../daemon/kernel/call.ts'
import type { Landed, Parcel } from '../../../daemon/kernel/carrier.ts'
import { reasonOf } from './again.ts'
import type { Hub, MailPage } from './hub.ts'

export type Receiving = {
  readonly hub: Hub
  readonly peers: readonly string[]
  readonly land: Landed
  readonly log: Log
  readonly signal: AbortSignal
}

/**
 * Takes what waits from each peer. What this site cannot take now stays at the hub, and holds up no other peer. Throws
 * when the hub fails.
 */
export async function takeAll(given: Receiving): Promise<void> {
  for (const peer of given.peers) {
    let cursor: string | undefined
    do {
      const page = await given.hub.waiting(peer, cursor, given.signal)
      if (!(await takePage(peer, page, given))) break
      cursor = page.next_cursor
    } while (cursor !== undefined)
  }
}

/** False when the site takes no more of this peer now. */
async function takePage(peer: string, { items }: MailPage, { hub, land, log, signal }: Receiving): Promise<boolean> {
  const strange = items.filter(({ from }) => from !== peer)
  if (strange.length > 0) throw new Error('the hub gives messages of another than it was asked for')
  if (items.length === 0) return true
  let landings: Awaited<ReturnType<Landed>>
  try {
    landings = await land(peer, items.map(parcelOf))
  } catch (error) {
    log.warn('carrier.peer.not_taken', { peer, carrier: 'coalition', detail: reasonOf(error) })
    return false
  }
  const landed = items.filter((_, index) => landings[index] === 'landed').map(({ id }) => id)
  if (landed.length > 0) await hub.acknowledge(landed, signal)
  return !landings.includes('full')
}

function parcelOf({ epoch, seq, envelope, body }: MailPage['items'][number]): Parcel {
  return { epoch, seq, envelope: Buffer.from(envelope, 'base64'), body: Buffer.from(body, 'base64') }
}
