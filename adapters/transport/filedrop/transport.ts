// The file-drop carrier: signed files in folders, which a courier or a network copies one way between sites.

import { refuse } from '../../../daemon/kernel/error/errors.ts'
import type { Peer } from '../../../daemon/kernel/identity/peer.ts'
import type { Handover } from '../../../daemon/kernel/messaging/carrier.ts'
import type { ChannelStatus } from '../../../daemon/kernel/messaging/channel-status.ts'
import type { Custody } from '../../../daemon/kernel/messaging/custody.ts'
import type { OneWayControl } from '../../../daemon/kernel/messaging/one-way-control.ts'
import { statementFormatsFor } from '../../../daemon/kernel/messaging/statement-format.ts'
import type { OutboundMessage, Transport } from '../../../daemon/kernel/messaging/transport.ts'
import { reportThrottle } from '../../../daemon/kernel/telemetry/report-throttle.ts'
import type { Trace } from '../../../daemon/kernel/telemetry/trace.ts'
import type { ScannerSettings } from '../../../daemon/shared/body-scanner/scanner-settings.ts'
import { type BodyScanner, bodyScanner } from '../../platform/body-scanner/body-scanner.ts'
import { trialBody } from '../../platform/body-scanner/trial-body.ts'
import { custody } from './custody.ts'
import { describeFailure } from './failure-text.ts'
import type { FiledropContext, FiledropOptions } from './filedrop-context.ts'
import { hasChannelFile } from './files/channel-folders.ts'
import { handover } from './handover.ts'
import { enrolChannel } from './link/enrol-channel.ts'
import { checkChannelState, type FiledropLink, filedropLink } from './link/filedrop-link.ts'
import { type FiledropLinkRuntime, openLinkRuntime } from './link/link-runtime.ts'
import { countSetAside, readLinkStatus, recordThroughput } from './link/link-status.ts'
import { oneWay } from './one-way.ts'
import { purgeOrders } from './quarantine/purge-orders.ts'
import type { IncomingMessageHandler } from './receiving/batch/deliver-batch.ts'
import { parcelClaims } from './sending/handover/parcel-claims.ts'
import { filedropSettings } from './settings.ts'

export type FiledropTransport = Transport & {
  readonly oneWay: OneWayControl
  readonly custody: Custody
  readonly handover: Handover
  /** Makes the channel of a pinned peer, and opens it when the carrier runs; see `enrolChannel`. */
  enrol(peer: Peer): Promise<void>
  /** Looks at everything now; resolves when all that this finds is done. */
  rescan(): Promise<void>
}

/** Throws ZodError for settings that are none. Nothing is touched before `start`, `enrol` or `send`. */
export function filedropTransport(options: FiledropOptions): FiledropTransport {
  const settings = filedropSettings.parse(options.settings ?? {})
  const listeners = new Set<(peer: string) => void>()
  const { hold = async () => ({ release: () => undefined }) } = options
  const filedrop: FiledropContext = {
    releasable_names: [],
    formats: statementFormatsFor(options.kinds),
    checkpoints: async () => [],
    acknowledgements: {},
    isAccredited: () => false,
    receiverOf: () => 'site',
    roots: () => ({ keys: options.signatures.publicKeys().filter(({ use }) => use === 'root'), threshold: 1 }),
    passFaultPoint: () => undefined,
    ...options,
    hold,
    claims: parcelClaims(hold),
    settings,
    onPublished: (peer) => {
      for (const listener of listeners) listener(peer)
    },
    purges: purgeOrders(options.journal),
    throttle: reportThrottle(options.clock.now),
    scanner: settings.scanner && openScanner(settings.scanner, options),
  }
  return new Filedrop(filedrop, listeners)
}

function openScanner(settings: ScannerSettings, { sandbox, tenant_id, label_policy }: FiledropOptions): BodyScanner {
  if (sandbox) return bodyScanner(settings, sandbox, trialBody(tenant_id, label_policy))
  throw new Error('a scanner runs in a sandbox, and there is none')
}

class Filedrop implements FiledropTransport {
  readonly name = 'filedrop' as const
  readonly #filedrop: FiledropContext
  readonly oneWay: OneWayControl
  readonly custody: Custody
  readonly handover: Handover
  readonly #links = new Map<string, FiledropLinkRuntime>()
  #deliver: IncomingMessageHandler | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(filedrop: FiledropContext, listeners: Set<(peer: string) => void>) {
    this.#filedrop = filedrop
    this.handover = handover(filedrop, (peer) => this.#linkOf(peer), listeners)
    this.oneWay = oneWay(filedrop, (peer) => this.#linkOf(peer))
    this.custody = custody(filedrop, () => this.#allLinks())
  }

  async enrol(peer: Peer): Promise<void> {
    await enrolChannel(peer, this.#filedrop)
    if (this.#deliver) this.#linkOf(peer.name).trigger()
  }

  async send(message: OutboundMessage, trace: Trace) {
    const peer = await this.#filedrop.peers.get(message.peer)
    if (!peer) throw refuse('not_found', `there is no peer ${message.peer}`)
    return await this.#linkOf(peer.name).outbox.send(message, peer, trace)
  }

  async start(deliver: IncomingMessageHandler): Promise<void> {
    if (this.#deliver) throw new Error('the carrier runs already')
    this.#deliver = deliver
    for (const line of this.#links.values()) line.run(deliver)
    await this.#triggerAll()
    const { rescan_ms } = this.#filedrop.settings
    if (rescan_ms > 0) this.#timer = setInterval(() => void this.#triggerAll(), rescan_ms)
  }

  async rescan(): Promise<void> {
    await this.#triggerAll()
    for (const line of this.#links.values()) await line.idle()
  }

  async status(): Promise<ChannelStatus[]> {
    const found: ChannelStatus[] = []
    for (const line of await this.#allLinks()) found.push(...(await readLinkStatus(line, this.#filedrop)))
    return found
  }

  async health(): Promise<{ ok: boolean; detail: string }> {
    const troubles: string[] = []
    const notes: string[] = []
    for (const { link } of await this.#allLinks()) {
      const set_aside = countSetAside(await this.#filedrop.journal.setAside(link.channel.in))
      for (const { role, kind, messages } of set_aside)
        notes.push(`${link.peer} in: ${messages} of kind ${kind} wait for role ${role}, which this site does not run`)
      for (const direction of ['out', 'in'] as const) {
        const { state, detail } = await checkChannelState(link, direction, this.#filedrop)
        if (state !== 'open' || detail !== '') troubles.push(`${link.peer} ${direction}: ${detail || state}`)
      }
    }
    return { ok: troubles.length === 0, detail: [...troubles, ...notes].join('; ') }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all([...this.#links.values()].map((line) => line.close()))
    this.#links.clear()
    this.#deliver = undefined
  }

  /** Peers are read anew each time: one that was pinned while the carrier runs is taken up with the next scan. */
  async #triggerAll(): Promise<void> {
    try {
      const lines = await this.#allLinks()
      for (const line of lines) line.trigger()
      await this.#recordThroughput(lines)
    } catch (error) {
      this.#filedrop.log.error('filedrop.peers.unreadable', { detail: describeFailure(error) })
    }
  }

  /** A failing journal is reported by the loops that it stops. */
  async #recordThroughput(links: readonly FiledropLinkRuntime[]): Promise<void> {
    for (const { link } of links) {
      await recordThroughput(link, this.#filedrop).catch((error: unknown) => {
        this.#filedrop.log.debug('filedrop.throughput.unknown', { peer: link.peer, detail: describeFailure(error) })
      })
    }
  }

  async #allLinks(): Promise<FiledropLinkRuntime[]> {
    for (const { name } of await this.#filedrop.peers.list()) this.#linkOf(name)
    return [...this.#links.values()]
  }

  #linkOf(peer: string): FiledropLinkRuntime {
    const known = this.#links.get(peer)
    if (known) return known
    const line: FiledropLink = filedropLink(peer, this.#filedrop)
    const running = openLinkRuntime(line, this.#filedrop, () => hasChannelFile(line.paths))
    this.#links.set(peer, running)
    if (this.#deliver) running.run(this.#deliver)
    return running
  }
}
