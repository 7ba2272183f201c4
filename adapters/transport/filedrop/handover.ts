// Hands messages to a network carrier, and takes from it what came: by the same folders as any courier.
import type { Handover } from '../../../daemon/kernel/carrier.ts'
import { refuse } from '../../../daemon/kernel/errors.ts'
import { oneByOne } from './one-at-a-time.ts'
import { landAll } from './receiving/landing.ts'
import type { RunningLine } from './running-line.ts'
import { hand, handingDesk } from './sending/handing.ts'
import type { Surroundings } from './surroundings.ts'

/** `lineOf`: of a peer that is pinned. `listeners` are told of what is published. */
export function handover(
  around: Surroundings,
  lineOf: (peer: string) => RunningLine,
  listeners: Set<(peer: string) => void>,
): Handover {
  const pinned = async (name: string): Promise<RunningLine> => {
    const peer = await around.peers.get(name)
    if (!peer) throw refuse('not_found', `there is no peer ${name}`)
    return lineOf(peer.name)
  }
  /** Of each peer, one landing after the other: of two parcels under one number the first keeps its name. */
  const landing = new Map<string, ReturnType<typeof oneByOne>>()
  const desk = handingDesk(around)
  return {
    async hand(name, handing) {
      return await hand(await pinned(name), handing, desk)
    },
    async land(name, parcels) {
      const running = await pinned(name)
      const alone = landing.get(name) ?? oneByOne()
      landing.set(name, alone)
      return await alone(() => landAll(running, parcels, around))
    },
    async judged(name) {
      await (await pinned(name)).intake()?.scanner.afterwards()
    },
    onReady(tell) {
      listeners.add(tell)
      return () => void listeners.delete(tell)
    },
  }
}
