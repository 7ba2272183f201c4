// Carries messages over a coalition's hub, and keeps this site registered among its nodes.
import { setTimeout as sleep } from 'node:timers/promises'
import { refuse } from '../../../daemon/kernel/error/errors.ts'
import type { Carrier, MessageReceiver } from '../../../daemon/kernel/messaging/carrier.ts'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'
import type { CapabilityMessage, NodeRegistration } from '../../../daemon/shared/coalition/hub-protocol.ts'
import type { StatusFeed } from '../../../daemon/shared/coalition/status-feed.ts'
import { deliverParcels } from './deliver-parcels.ts'
import { hubClient } from './hub-client.ts'
import { hubHttpClient } from './hub-http-client.ts'
import { errorText, initialTrouble, keepConnected } from './keep-connected.ts'
import { receiveMail } from './receive-mail.ts'
import { type HubCredentials, hubTokenSource } from './token.ts'

export type CoalitionOptions = HubCredentials & {
  readonly hub_url: string
  readonly ca_file?: string | undefined
  readonly peers: readonly string[]
  readonly registration: NodeRegistration
  readonly capability: CapabilityMessage
  readonly log: Log
  /** A number from 0 to 1, evenly. */
  readonly chance: () => number
}

/** Of one event of the feed. */
const publish_timeout_ms = 10_000

/** Throws when the file of authorities cannot be read. */
export function coalitionCarrier(options: CoalitionOptions): Carrier & StatusFeed {
  const { peers, registration, capability, log, chance } = options
  const net = hubHttpClient(options.ca_file)
  const hub = hubClient({
    web: net,
    tokens: hubTokenSource(net, options),
    hub_url: options.hub_url,
    node: registration.site,
  })
  const stopping = new AbortController()
  const { signal } = stopping
  const troubles = new Map([['presence', initialTrouble]])
  const reported_oversized = new Map<string, string>()
  let runs: Promise<void>[] = []

  const reconnectOptions = (what: string) => ({
    signal,
    chance,
    onChange(trouble: string | undefined) {
      if (trouble === undefined) {
        if (troubles.delete(what)) log.info('coalition.hub.reached', { what })
        return
      }
      troubles.set(what, trouble)
      log.warn('coalition.hub.unreached', { what, detail: trouble })
    },
  })

  /** A hub that lost what it knew, or took the node for lost, learns of it anew: registering is what a heartbeat fails over to. */
  async function stayPresent(onConnected: () => void): Promise<void> {
    const { heartbeat_s } = await hub.register(registration, signal)
    await hub.offer(capability, signal)
    for (;;) {
      onConnected()
      await sleep(heartbeat_s * 1_000, undefined, { signal })
      await hub.heartbeat(signal)
    }
  }

  async function receive(land: MessageReceiver, onConnected: () => void): Promise<void> {
    for await (const _ of hub.wakeUps(signal)) {
      onConnected()
      await receiveMail({ hub, peers, land, log, signal, reported_oversized })
    }
  }

  return {
    name: 'coalition',
    peers,
    carry: (peer, parcels, given) => deliverParcels(hub, peer, parcels, AbortSignal.any([given, signal])),
    async start(land) {
      runs = [keepConnected(reconnectOptions('presence'), stayPresent)]
      if (peers.length > 0)
        runs.push(keepConnected(reconnectOptions('mailbox'), (onConnected) => receive(land, onConnected)))
    },
    async publish(event) {
      try {
        await hub.publish(event, AbortSignal.any([AbortSignal.timeout(publish_timeout_ms), signal]))
      } catch (error) {
        throw refuse('unavailable', `the hub did not accept the message: ${errorText(error)}`)
      }
    },
    async health() {
      const trouble = [...troubles].map(([what, detail]) => `${what}: ${detail}`).join('; ')
      return { ok: trouble === '', detail: trouble === '' ? 'coalition' : trouble }
    },
    async stop() {
      stopping.abort()
      await Promise.all(runs)
      net.close()
    },
  }
}
