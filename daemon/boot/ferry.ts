// Moves messages between file-drop's folders and a network carrier: one loop for each peer, which waits longer after each failure.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../kernel/call.ts'
import { Busy, type Carrier, type Handover, type Landing, type Parcel } from '../kernel/carrier.ts'
import { isRefused } from '../kernel/errors.ts'
import type { MessageNumber } from '../kernel/journal.ts'

export type Ferry = {
  start(): Promise<void>
  /** Ends what is under way; what has not been confirmed goes again at the next start. */
  stop(): Promise<void>
}

type Ferrying = {
  readonly carrier: Carrier
  readonly handover: Handover
  readonly log: Log
  /** A number from 0 to 1, evenly. */
  readonly chance: () => number
  /** How long to wait without being told that something is ready. */
  readonly look_every_ms: number
}

/** Messages that one call of a carrier takes. */
const batch = 64
const first_wait_ms = 500
const longest_wait_ms = 60_000
/** Of one batch, however slow the peer; and what each byte of it is given besides: 8 KiB a second, written as base64. */
const carry_timeout_ms = 120_000
const ms_per_byte = 1_000 / 6_144

export function ferry(given: Ferrying): Ferry {
  const { carrier, handover } = given
  const stopping = new AbortController()
  const routes = carrier.peers.map((peer) => route(peer, given, stopping.signal))
  let runs: Promise<void>[] = []
  let endTelling = () => {}
  return {
    async start() {
      await carrier.start(
        (peer, parcels) => handover.land(peer, parcels),
        (peer) => handover.judged(peer),
      )
      endTelling = handover.onReady((peer) => {
        for (const each of routes) if (each.peer === peer) each.wake()
      })
      runs = routes.map((each) => each.run())
    },
    async stop() {
      endTelling()
      stopping.abort()
      for (const each of routes) each.wake()
      await Promise.all(runs)
      await carrier.stop()
    },
  }
}

type Route = { readonly peer: string; wake(): void; run(): Promise<void> }

function route(peer: string, given: Ferrying, stopping: AbortSignal): Route {
  let isWanted = true
  let wakeUp = () => {}
  let failures = 0
  const woken = async (wait_ms: number) => {
    if (isWanted || stopping.aborted) return
    await new Promise<void>((woke) => {
      const timer = setTimeout(woke, wait_ms)
      wakeUp = () => {
        clearTimeout(timer)
        woke()
      }
    })
  }
  return {
    peer,
    wake() {
      isWanted = true
      wakeUp()
    },
    async run() {
      while (!stopping.aborted) {
        await woken(given.look_every_ms)
        isWanted = false
        const trouble = await carryAll(peer, given, stopping)
        if (trouble === undefined) {
          if (failures > 0) given.log.info('carrier.peer.reached', { peer, carrier: given.carrier.name, failures })
          failures = 0
          continue
        }
        if (stopping.aborted) return
        const { detail, wait_ms, hasMoved } = trouble
        // What stays is tried again soon while others go.
        failures = hasMoved ? 1 : failures + 1
        given.log.warn('carrier.peer.unreached', { peer, carrier: given.carrier.name, failures, detail })
        const pause_ms = waitAfter(failures, given.chance(), wait_ms)
        await sleep(pause_ms, undefined, { signal: stopping }).catch(() => undefined)
        isWanted = true
      }
    },
  }
}

/**
 * Full jitter: sites that lost the same network do not all come back in the same moment. `asked_ms`: what the peer has asked
 * for; it gets that and no more than the longest wait, whatever it says.
 */
export function waitAfter(failures: number, chance: number, asked_ms = 0): number {
  const at_least_ms = Math.max(first_wait_ms, Math.min(longest_wait_ms, asked_ms))
  return Math.round(at_least_ms + chance * Math.min(longest_wait_ms, first_wait_ms * 2 ** failures))
}

type Trouble = { readonly detail: string; readonly wait_ms?: number; readonly hasMoved?: boolean }

/** Until nothing is ready; why that is not so, when it cannot be done now. */
async function carryAll(
  peer: string,
  { carrier, handover }: Ferrying,
  stopping: AbortSignal,
): Promise<Trouble | undefined> {
  const stays = new Set<string>()
  let trouble: Trouble | undefined
  let hasMoved = false
  try {
    while (!stopping.aborted) {
      const parcels = await handover.ready(peer, batch, (number) => stays.has(nameOf(number)))
      if (parcels.length === 0) return trouble && { ...trouble, hasMoved }
      const signal = AbortSignal.any([stopping, AbortSignal.timeout(patienceFor(parcels))])
      const landings = await carrier.carry(peer, parcels, signal)
      const landed = parcels.filter((_, index) => landings[index] === 'landed')
      if (landed.length > 0) await handover.leave(peer, landed)
      hasMoved ||= landed.length > 0
      // What stays does not hold up what comes after it.
      for (const [index, parcel] of parcels.entries()) if (landings[index] !== 'landed') stays.add(nameOf(parcel))
      if (landed.length < parcels.length) trouble = { detail: troubleOf(parcels, landings) }
      if (landings.includes('full')) return { detail: 'the peer takes nothing now', hasMoved }
    }
    return undefined
  } catch (error) {
    const detail = isRefused(error) || error instanceof Error ? error.message : String(error)
    return error instanceof Busy ? { detail, wait_ms: error.wait_ms } : { detail }
  }
}

function patienceFor(parcels: readonly Parcel[]): number {
  const bytes = parcels.reduce((sum, { envelope, body }) => sum + envelope.length + body.length, 0)
  return Math.round(carry_timeout_ms + bytes * ms_per_byte)
}

function nameOf({ epoch, seq }: MessageNumber): string {
  return `${epoch}-${seq}`
}

function troubleOf(parcels: readonly Parcel[], landings: readonly Landing[]): string {
  const at = parcels.findIndex((_, index) => landings[index] !== 'landed')
  const { epoch, seq } = parcels[at] ?? { epoch: 0, seq: 0 }
  if (landings[at] === 'too_large') return `number ${seq} of epoch ${epoch} is larger than the peer’s site takes`
  return `other bytes than those of number ${seq} of epoch ${epoch} wait at the peer's site`
}
