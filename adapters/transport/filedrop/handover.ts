// Exchanges messages with a network carrier through the same folders that a courier uses.

import { existsSync } from 'node:fs'
import { refuse } from '../../../daemon/kernel/error/errors.ts'
import type { Handover, LandedOutcome } from '../../../daemon/kernel/messaging/carrier.ts'
import { hasEnded } from '../../../daemon/kernel/messaging/ledger.ts'
import type { FiledropContext } from './filedrop-context.ts'
import { messageName, partPath } from './files/message-name.ts'
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
    async outcomeOf(name, { epoch, seq }, digest) {
      const { link } = await pinned(name)
      const entry = await filedrop.journal.entry(link.channel.in, epoch, seq)
      if (entry?.digest === digest && hasEnded(entry) && entry.state !== 'lost')
        return { outcome: entry.state as LandedOutcome['outcome'], code: entry.code }
      const { stem } = messageName(epoch, seq)
      const { work, fresh } = link.folders
      const isThere = [work, fresh].some((folder) => existsSync(partPath(folder, stem, 'env')))
      return { outcome: isThere || entry?.digest === digest ? 'waiting' : 'quarantined', code: '' }
    },
    onReady(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
