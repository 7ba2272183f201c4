// Moves messages between file-drop's folders and a network carrier: one loop for each peer, which waits longer after each failure.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../kernel/call.ts'
import { Busy, type Carrier, type Handed, type Handing, type Handover, type Parcel } from '../kernel/carrier.ts'
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
        const { hasMoved, trouble } = await carryAll(peer, given, stopping)
        if (hasMoved && failures > 0) {
          given.log.info('carrier.peer.reached', { peer, carrier: given.carrier.name, failures })
        }
        // What stays is tried again soon while others go. That nothing is ready any more says nothing of the peer.
        if (hasMoved) failures = 0
        if (trouble === undefined) continue
        if (stopping.aborted) return
        const { detail, wait_ms } = trouble
        failures += 1
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

type Trouble = { readonly detail: string; readonly wait_ms?: number }
/** `hasMoved`: something has landed, so the peer is there. */
type Carried = { readonly hasMoved: boolean; readonly trouble: Trouble | undefined }

/** Until nothing is ready; why that is not so, when it cannot be done now. */
async function carryAll(peer: string, { carrier, handover }: Ferrying, stopping: AbortSignal): Promise<Carried> {
  const stays = new Set<string>()
  let trouble: Trouble | undefined
  let hasMoved = false
  const carry: Handing['carry'] = (parcels, called_back) => {
    const patience = AbortSignal.timeout(patienceFor(parcels))
    return carrier.carry(peer, parcels, AbortSignal.any([stopping, called_back, patience]))
  }
  try {
    while (!stopping.aborted) {
      const skip = (number: MessageNumber) => stays.has(nameOf(number))
      const handed = await handover.hand(peer, { limit: batch, skip, carry })
      if (handed.length === 0) break
      hasMoved ||= handed.some(({ landing }) => landing === 'landed')
      // What stays does not hold up what comes after it.
      for (const each of handed) if (each.landing !== 'landed') stays.add(nameOf(each))
      const full = handed.find(({ landing }) => landing === 'full')
      const first = full ?? handed.find(({ landing }) => landing !== 'landed' && landing !== 'kept_back')
      if (first) trouble = { detail: troubleOf(first) }
      if (full) break
    }
    return { hasMoved, trouble }
  } catch (error) {
    const detail = isRefused(error) || error instanceof Error ? error.message : String(error)
    return { hasMoved, trouble: error instanceof Busy ? { detail, wait_ms: error.wait_ms } : { detail } }
  }
}

function patienceFor(parcels: readonly Parcel[]): number {
  const bytes = parcels.reduce((sum, { envelope, body }) => sum + envelope.length + body.length, 0)
  return Math.round(carry_timeout_ms + bytes * ms_per_byte)
}

function nameOf({ epoch, seq }: MessageNumber): string {
  return `${epoch}-${seq}`
}

function troubleOf({ landing, epoch, seq }: Handed): string {
  if (landing === 'full') return 'the peer takes nothing now'
  if (landing === 'too_large') return `number ${seq} of epoch ${epoch} is larger than the peer’s site takes`
  return `other bytes than those of number ${seq} of epoch ${epoch} wait at the peer's site`
}
