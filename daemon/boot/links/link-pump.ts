// Moves messages between the file-drop folders and a network carrier: one loop for each peer, with backoff after failures.
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
import { computeBackoff_ms } from '../../kernel/network/backoff.ts'
import type { Log } from '../../kernel/telemetry/log.ts'

export type LinkPump = {
  start(): Promise<void>
  /** Ends active transfers; unconfirmed messages are sent again at the next start. */
  stop(): Promise<void>
}

type LinkPumpOptions = {
  readonly carrier: Carrier
  readonly handover: Handover
  readonly log: Log
  /** A uniform random number from 0 to 1. */
  readonly chance: () => number
  /** Longest wait without a notification of ready messages. */
  readonly poll_interval_ms: number
}

/** Most messages of one call of a carrier. */
const max_batch_messages = 64
/** Time limit of one batch, plus an allowance for each byte: 8 KiB a second, in base64. */
const carry_timeout_ms = 120_000
const extra_ms_per_byte = 1_000 / 6_144

export function linkPump(options: LinkPumpOptions): LinkPump {
  const { carrier, handover } = options
  const stopping = new AbortController()
  const routes = carrier.peers.map((peer) => peerLoop(peer, options, stopping.signal))
  let runs: Promise<void>[] = []
  let unsubscribe = () => {}
  return {
    async start() {
      await carrier.start(
        (peer, parcels) => handover.receive(peer, parcels),
        (peer) => handover.whenProcessed(peer),
      )
      unsubscribe = handover.onReady((peer) => {
        for (const loop of routes) if (loop.peer === peer) loop.wake()
      })
      runs = routes.map((loop) => loop.run())
    },
    async stop() {
      unsubscribe()
      stopping.abort()
      for (const loop of routes) loop.wake()
      await Promise.all(runs)
      await carrier.stop()
    },
  }
}

type PeerLoop = { readonly peer: string; wake(): void; run(): Promise<void> }

function peerLoop(peer: string, options: LinkPumpOptions, stopping: AbortSignal): PeerLoop {
  let isPending = true
  let wakeUp = () => {}
  let failures = 0
  const waitForWork = async (wait_ms: number) => {
    if (isPending || stopping.aborted) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, wait_ms)
      wakeUp = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
  return {
    peer,
    wake() {
      isPending = true
      wakeUp()
    },
    async run() {
      while (!stopping.aborted) {
        await waitForWork(options.poll_interval_ms)
        isPending = false
        const { hasMoved, trouble } = await carryReady(peer, options, stopping)
        if (hasMoved && failures > 0) {
          options.log.info('carrier.peer.reached', { peer, carrier: options.carrier.name, failures })
        }
        // Only moved messages reset the backoff: an empty folder does not prove that the peer is reachable.
        if (hasMoved) failures = 0
        if (trouble === undefined) continue
        if (stopping.aborted) return
        const { detail, wait_ms } = trouble
        failures += 1
        options.log.warn('carrier.peer.unreached', { peer, carrier: options.carrier.name, failures, detail })
        const pause_ms = computeBackoff_ms(failures, options.chance(), wait_ms)
        await sleep(pause_ms, undefined, { signal: stopping }).catch(() => undefined)
        isPending = true
      }
    },
  }
}

type CarryTrouble = { readonly detail: string; readonly wait_ms?: number }
/** `hasMoved`: at least one message landed, so the peer is reachable. */
type CarryResult = { readonly hasMoved: boolean; readonly trouble: CarryTrouble | undefined }

/** Carries messages until none is ready; `trouble` explains why some stay. */
async function carryReady(
  peer: string,
  { carrier, handover }: LinkPumpOptions,
  stopping: AbortSignal,
): Promise<CarryResult> {
  const stayed = new Set<string>()
  let trouble: CarryTrouble | undefined
  let hasMoved = false
  const carry: HandoverRequest['carry'] = (parcels, called_back) => {
    const timeLimit = AbortSignal.timeout(carryTimeout_ms(parcels))
    return carrier.carry(peer, parcels, AbortSignal.any([stopping, called_back, timeLimit]))
  }
  try {
    while (!stopping.aborted) {
      const skip = (number: MessageNumber) => stayed.has(messageKey(number))
      const results = await handover.offer(peer, { limit: max_batch_messages, skip, carry })
      if (results.length === 0) break
      hasMoved ||= results.some(({ outcome }) => outcome === 'landed')
      // A message that stays does not block later ones.
      for (const result of results) if (result.outcome !== 'landed') stayed.add(messageKey(result))
      const fullResult = results.find(({ outcome }) => outcome === 'full')
      const problem = fullResult ?? results.find(({ outcome }) => outcome !== 'landed' && outcome !== 'kept_back')
      if (problem) trouble = { detail: describeTrouble(problem) }
      if (fullResult) break
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
  if (outcome === 'too_large') return `number ${seq} of epoch ${epoch} exceeds the size limit of the peer`
  return `the peer already holds other bytes under number ${seq} of epoch ${epoch}`
}
