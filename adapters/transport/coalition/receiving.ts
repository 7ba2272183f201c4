// Brings what waits at the hub: lands it, and only then tells the hub that it may forget it.

import type { Log } from '../../../daemon/kernel/call.ts'
import type { Landed, Parcel } from '../../../daemon/kernel/carrier.ts'
import { reasonOf } from './again.ts'
import type { Hub, MailPage } from './hub.ts'

export type Receiving = {
  readonly hub: Pick<Hub, 'waiting' | 'acknowledge'>
  readonly peers: readonly string[]
  readonly land: Landed
  readonly log: Log
  readonly signal: AbortSignal
  /** By peer, the message that was told of last as larger than this site takes. */
  readonly told: Map<string, string>
}

/** Pages of each busy peer between two looks at all of them: a peer that never ends holds up nobody else. */
const turns = 4

/**
 * Takes what waits, by turns: a page of each peer, and again from those that have more. What this site cannot take now
 * stays at the hub, and holds up no other peer. Throws when the hub fails.
 */
export async function takeAll(given: Receiving): Promise<void> {
  let busy: readonly Waiting[] = []
  do
    busy = await takeTurns(
      given.peers.map((peer) => busy.find((each) => each.peer === peer) ?? { peer }),
      given,
    )
  while (busy.length > 0)
}

/** Those that have more. */
async function takeTurns(all: readonly Waiting[], given: Receiving): Promise<readonly Waiting[]> {
  let waiting = all
  for (let turn = 0; turn < turns && waiting.length > 0; turn++) {
    const next: Waiting[] = []
    for (const each of waiting) next.push(...(await takePage(each, given)))
    waiting = next
  }
  return waiting
}

/** A mailbox that may hold more, from where it was read to. */
type Waiting = { readonly peer: string; readonly cursor?: string }

/** What is left to read of the peer; nothing when the site takes no more of it now. */
async function takePage({ peer, cursor }: Waiting, given: Receiving): Promise<Waiting[]> {
  const { hub, land, log, signal } = given
  const { items, next_cursor } = await hub.waiting(peer, cursor, signal)
  const rest = next_cursor === undefined ? [] : [{ peer, cursor: next_cursor }]
  const strange = items.filter(({ from }) => from !== peer)
  if (strange.length > 0) throw new Error('the hub gives messages of another than it was asked for')
  if (items.length === 0) return rest
  let landings: Awaited<ReturnType<Landed>>
  try {
    landings = await land(peer, items.map(parcelOf))
  } catch (error) {
    log.warn('carrier.peer.not_taken', { peer, carrier: 'coalition', detail: reasonOf(error) })
    return []
  }
  const landed = items.filter((_, index) => landings[index] === 'landed').map(({ id }) => id)
  tellLarge(
    peer,
    items.find((_, index) => landings[index] === 'too_large'),
    given,
  )
  if (landed.length > 0) await hub.acknowledge(landed, signal)
  return landings.includes('full') ? [] : rest
}

/** It stays at the hub until its time there is over. Told once, and not whenever it is seen again. */
function tellLarge(peer: string, item: MailPage['items'][number] | undefined, { told, log }: Receiving): void {
  if (!item || told.get(peer) === item.id) return
  told.set(peer, item.id)
  log.warn('carrier.message.too_large', { peer, carrier: 'coalition', epoch: item.epoch, seq: item.seq })
}

function parcelOf({ epoch, seq, envelope, body }: MailPage['items'][number]): Parcel {
  return { epoch, seq, envelope: Buffer.from(envelope, 'base64'), body: Buffer.from(body, 'base64') }
}
