// Moves messages between file-drop's folders and a network carrier: one loop for each peer, which waits longer after
// each failure.
import { setTimeout as sleep } from 'node:timers/promises'
import { isRefusal } from '../../kernel/error/errors.ts'
import {
  type CarriedMessage,
  type Carrier,
  type Handover,
  type HandoverRequest,
  type HandoverResult,
  PeerBusyError,
} from '../../kernel/messaging/carrier.ts'
import type { MessageNumber } from '../../kernel/messaging/journal.ts'
import type { Log } from '../../kernel/telemetry/log.ts'

export type LinkPump = {
  start(): Promise<void>
  /** Ends what is under way; what has not been confirmed goes again at the next start. */
  stop(): Promise<void>
}

type LinkPumpOptions = {
  readonly carrier: Carrier
  readonly handover: Handover
  readonly log: Log
  /** A number from 0 to 1, evenly. */
  readonly chance: () => number
  /** Longest wait without a notification that messages are ready. */
  readonly poll_interval_ms: number
}

/** Messages that one call of a carrier takes. */
const max_batch_messages = 64
const min_wait_ms = 500
const max_wait_ms = 60_000
/**
 * Of one batch, however slow the peer; and what each byte of it is given besides: 8 KiB a second, written as base64.
 */
const carry_timeout_ms = 120_000
const extra_ms_per_byte = 1_000 / 6_144

export function linkPump(given: LinkPumpOptions): LinkPump {
  const { carrier, handover } = given
  const stopping = new AbortController()
  const routes = carrier.peers.map((peer) => peerLoop(peer, given, stopping.signal))
  let runs: Promise<void>[] = []
  let endTelling = () => {}
  return {
    async start() {
      await carrier.start(
        (peer, parcels) => handover.receive(peer, parcels),
        (peer) => handover.whenProcessed(peer),
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

type PeerLoop = { readonly peer: string; wake(): void; run(): Promise<void> }

function peerLoop(peer: string, given: LinkPumpOptions, stopping: AbortSignal): PeerLoop {
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
        await woken(given.poll_interval_ms)
        isWanted = false
        const { hasMoved, trouble } = await carryReady(peer, given, stopping)
        if (hasMoved && failures > 0) {
          given.log.info('carrier.peer.reached', { peer, carrier: given.carrier.name, failures })
        }
        // Messages that stay are tried again soon while others go. An empty outbox is not evidence about the peer.
        if (hasMoved) failures = 0
        if (trouble === undefined) continue
        if (stopping.aborted) return
        const { detail, wait_ms } = trouble
        failures += 1
        given.log.warn('carrier.peer.unreached', { peer, carrier: given.carrier.name, failures, detail })
        const pause_ms = computeBackoff_ms(failures, given.chance(), wait_ms)
        await sleep(pause_ms, undefined, { signal: stopping }).catch(() => undefined)
        isWanted = true
      }
    },
  }
}

/**
 * Full jitter: sites that lost the same network do not all come back in the same moment. `asked_ms`: the wait
 * that the peer requests, honoured up to the longest wait.
 */
export function computeBackoff_ms(failures: number, chance: number, requested_ms = 0): number {
  const at_least_ms = Math.max(min_wait_ms, Math.min(max_wait_ms, requested_ms))
  return Math.round(at_least_ms + chance * Math.min(max_wait_ms, min_wait_ms * 2 ** failures))
}

type CarryTrouble = { readonly detail: string; readonly wait_ms?: number }
/** `hasMoved`: something has landed, so the peer is there. */
type CarryResult = { readonly hasMoved: boolean; readonly trouble: CarryTrouble | undefined }

/** Until nothing is ready; why that is not so, when it cannot be done now. */
async function carryReady(
  peer: string,
  { carrier, handover }: LinkPumpOptions,
  stopping: AbortSignal,
): Promise<CarryResult> {
  const stays = new Set<string>()
  let trouble: CarryTrouble | undefined
  let hasMoved = false
  const carry: HandoverRequest['carry'] = (parcels, called_back) => {
    const patience = AbortSignal.timeout(carryTimeout_ms(parcels))
    return carrier.carry(peer, parcels, AbortSignal.any([stopping, called_back, patience]))
  }
  try {
    while (!stopping.aborted) {
      const skip = (number: MessageNumber) => stays.has(messageKey(number))
      const handed = await handover.offer(peer, { limit: max_batch_messages, skip, carry })
      if (handed.length === 0) break
      hasMoved ||= handed.some(({ outcome }) => outcome === 'landed')
      // A message that stays does not hold up the next ones.
      for (const each of handed) if (each.outcome !== 'landed') stays.add(messageKey(each))
      const full = handed.find(({ outcome }) => outcome === 'full')
      const first = full ?? handed.find(({ outcome }) => outcome !== 'landed' && outcome !== 'kept_back')
      if (first) trouble = { detail: describeTrouble(first) }
      if (full) break
    }
    return { hasMoved, trouble }
  } catch (error) {
    const detail = isRefusal(error) || error instanceof Error ? error.message : String(error)
    return { hasMoved, trouble: error instanceof PeerBusyError ? { detail, wait_ms: error.wait_ms } : { detail } }
  }
}

function carryTimeout_ms(parcels: readonly CarriedMessage[]): number {
  const bytes = parcels.reduce((sum, { envelope, body }) => sum + envelope.length + body.length, 0)
  return Math.round(carry_timeout_ms + bytes * extra_ms_per_byte)
}

function messageKey({ epoch, seq }: MessageNumber): string {
  return `${epoch}-${seq}`
}

function describeTrouble({ outcome, epoch, seq }: HandoverResult): string {
  if (outcome === 'full') return 'the peer accepts no messages at present'
  if (outcome === 'too_large') return `number ${seq} of epoch ${epoch} is larger than the peer’s site takes`
  return `other bytes than those of number ${seq} of epoch ${epoch} wait at the peer's site`
}
