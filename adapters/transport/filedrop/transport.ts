// The file-drop carrier: signed files in folders, which somebody else copies one way from site to site.

import type { Handover } from '../../../daemon/kernel/carrier.ts'
import type { ChannelStatus } from '../../../daemon/kernel/channel-status.ts'
import type { Custody } from '../../../daemon/kernel/custody.ts'
import { refuse } from '../../../daemon/kernel/errors.ts'
import type { OneWay } from '../../../daemon/kernel/one-way.ts'
import type { Peer } from '../../../daemon/kernel/peer.ts'
import { statementFormats } from '../../../daemon/kernel/statement-format.ts'
import type { Trace } from '../../../daemon/kernel/trace.ts'
import type { Outgoing, Transport } from '../../../daemon/kernel/transport.ts'
import { custody } from './custody.ts'
import { enrolChannel } from './enrolment.ts'
import { failureText } from './failure-text.ts'
import { handover } from './handover.ts'
import { hasChannelFile } from './layout.ts'
import { type Line, lineTo, standing } from './line.ts'
import { oneWay } from './one-way.ts'
import { purgeOrders } from './quarantine/purge-orders.ts'
import type { Deliver } from './receiving/delivering.ts'
import { scanner } from './receiving/scanning.ts'
import { openLine, type RunningLine } from './running-line.ts'
import { claims } from './sending/claims.ts'
import { filedropSettings } from './settings.ts'
import { notePace, statusOf } from './status.ts'
import type { FiledropOptions, Surroundings } from './surroundings.ts'

export type FiledropTransport = Transport & {
  readonly oneWay: OneWay
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
  const around: Surroundings = {
    releasable_names: [],
    formats: statementFormats,
    checkpoints: async () => [],
    acknowledgements: {},
    isAccredited: () => false,
    roots: () => ({ keys: options.signatures.publicKeys().filter(({ use }) => use === 'root'), threshold: 1 }),
    reached: () => undefined,
    ...options,
    hold,
    claims: claims(hold),
    settings,
    published: (peer) => {
      for (const tell of listeners) tell(peer)
    },
    purges: purgeOrders(options.journal),
    scanner: settings.scanner && scanner(settings.scanner),
  }
  return new Filedrop(around, listeners)
}

class Filedrop implements FiledropTransport {
  readonly name = 'filedrop' as const
  readonly #around: Surroundings
  readonly oneWay: OneWay
  readonly custody: Custody
  readonly handover: Handover
  readonly #lines = new Map<string, RunningLine>()
  #deliver: Deliver | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(around: Surroundings, listeners: Set<(peer: string) => void>) {
    this.#around = around
    this.handover = handover(around, (peer) => this.#lineOf(peer), listeners)
    this.oneWay = oneWay(around, (peer) => this.#lineOf(peer))
    this.custody = custody(around, () => this.#allLines())
  }

  async enrol(peer: Peer): Promise<void> {
    await enrolChannel(peer, this.#around)
    if (this.#deliver) this.#lineOf(peer.name).trigger()
  }

  async send(message: Outgoing, trace: Trace) {
    const peer = await this.#around.peers.get(message.peer)
    if (!peer) throw refuse('not_found', `there is no peer ${message.peer}`)
    return await this.#lineOf(peer.name).outbox.send(message, peer, trace)
  }

  async start(deliver: Deliver): Promise<void> {
    if (this.#deliver) throw new Error('the carrier runs already')
    this.#deliver = deliver
    for (const line of this.#lines.values()) line.run(deliver)
    await this.#triggerAll()
    const { rescan_ms } = this.#around.settings
    if (rescan_ms > 0) this.#timer = setInterval(() => void this.#triggerAll(), rescan_ms)
  }

  async rescan(): Promise<void> {
    await this.#triggerAll()
    for (const line of this.#lines.values()) await line.idle()
  }

  async status(): Promise<ChannelStatus[]> {
    const found: ChannelStatus[] = []
    for (const line of await this.#allLines()) found.push(...(await statusOf(line, this.#around)))
    return found
  }

  async health(): Promise<{ ok: boolean; detail: string }> {
    const troubles: string[] = []
    for (const { line } of await this.#allLines()) {
      for (const direction of ['out', 'in'] as const) {
        const { state, detail } = await standing(line, direction, this.#around)
        if (state !== 'open' || detail !== '') troubles.push(`${line.peer} ${direction}: ${detail || state}`)
      }
    }
    return { ok: troubles.length === 0, detail: troubles.join('; ') }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all([...this.#lines.values()].map((line) => line.close()))
    this.#lines.clear()
    this.#deliver = undefined
  }

  /** Peers are read anew each time: one that was pinned while the carrier runs is taken up with the next scan. */
  async #triggerAll(): Promise<void> {
    try {
      const lines = await this.#allLines()
      for (const line of lines) line.trigger()
      await this.#notePaces(lines)
    } catch (error) {
      this.#around.log.error('filedrop.peers.unreadable', { detail: failureText(error) })
    }
  }

  /** What keeps the journal from telling is told by those whose work it stops. */
  async #notePaces(lines: readonly RunningLine[]): Promise<void> {
    for (const { line } of lines) {
      await notePace(line, this.#around).catch((error: unknown) => {
        this.#around.log.debug('filedrop.pace.unknown', { peer: line.peer, detail: failureText(error) })
      })
    }
  }

  async #allLines(): Promise<RunningLine[]> {
    for (const { name } of await this.#around.peers.list()) this.#lineOf(name)
    return [...this.#lines.values()]
  }

  #lineOf(peer: string): RunningLine {
    const known = this.#lines.get(peer)
    if (known) return known
    const line: Line = lineTo(peer, this.#around)
    const running = openLine(line, this.#around, () => hasChannelFile(line.folders))
    this.#lines.set(peer, running)
    if (this.#deliver) running.run(this.#deliver)
    return running
  }
}
