// Exchanges messages with a network carrier through the same folders that a courier uses.

import { refuse } from '../../../daemon/kernel/error/errors.ts'
import type { Handover } from '../../../daemon/kernel/messaging/carrier.ts'
import type { FiledropContext } from './filedrop-context.ts'
import type { FiledropLinkRuntime } from './link/link-runtime.ts'
import { landParcels } from './receiving/land-parcels.ts'
import { handoverContext, handParcels } from './sending/handover/hand-parcels.ts'
import { serialQueue } from './serial-work.ts'

/** `linkOf` takes the name of a pinned peer. `listeners` are called when messages are published. */
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
  /** Lands parcels of each peer one after the other: of two parcels under one number the first keeps its name. */
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
    onReady(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
