// Hands messages to a network carrier, and takes from it what came: by the same folders as any courier.

import { refuse } from '../../../daemon/kernel/error/errors.ts'
import type { Handover } from '../../../daemon/kernel/messaging/carrier.ts'
import type { FiledropContext } from './filedrop-context.ts'
import type { FiledropLinkRuntime } from './link/link-runtime.ts'
import { landParcels } from './receiving/land-parcels.ts'
import { handoverContext, handParcels } from './sending/handover/hand-parcels.ts'
import { serialQueue } from './serial-work.ts'

/** `lineOf`: of a peer that is pinned. `listeners` are told of what is published. */
export function handover(
  filedrop: FiledropContext,
  linkOf: (peer: string) => FiledropLinkRuntime,
  listeners: Set<(peer: string) => void>,
): Handover {
  const pinned = async (name: string): Promise<FiledropLinkRuntime> => {
    const peer = await filedrop.peers.get(name)
    if (!peer) throw refuse('not_found', `there is no peer ${name}`)
    return linkOf(peer.name)
  }
  /** Of each peer, one landing after the other: of two parcels under one number the first keeps its name. */
  const landing = new Map<string, ReturnType<typeof serialQueue>>()
  const context = handoverContext(filedrop)
  return {
    async offer(name, handing) {
      return await handParcels(await pinned(name), handing, context)
    },
    async receive(name, parcels) {
      const running = await pinned(name)
      const alone = landing.get(name) ?? serialQueue()
      landing.set(name, alone)
      return await alone(() => landParcels(running, parcels, filedrop))
    },
    async whenProcessed(name) {
      await (await pinned(name)).intake()?.scanLoop.triggerAndWait()
    },
    onReady(tell) {
      listeners.add(tell)
      return () => void listeners.delete(tell)
    },
  }
}
