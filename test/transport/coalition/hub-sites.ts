// Two sites of file-drop whose messages go by a hub: real link pumps, real carriers, and a hub that is real or a liar.
import * as fs from 'node:fs'
import { coalitionCarrier } from '../../../adapters/transport/coalition/coalition-carrier.ts'
import { type LinkPump, linkPump } from '../../../daemon/boot/links/link-pump.ts'
import type { DeliveryVerdict, InboundMessage } from '../../../daemon/kernel/messaging/transport.ts'
import type { Log } from '../../../daemon/kernel/telemetry/log.ts'
import {
  createFiledropSites,
  type FiledropSite,
  type FiledropSites,
  formatReadyPath,
  restartSite,
  startReceiving,
} from '../../support/filedrop/filedrop-sites.ts'
import { waitUntil } from '../../support/site/test-site.ts'
import type { HubEndpoint } from './test-hub.ts'

type MessageHandler = (message: InboundMessage) => Promise<DeliveryVerdict> | DeliveryVerdict

export type HubSites = {
  readonly sites: FiledropSites
  /** Messages passed to bravo's handler, repeats included. */
  readonly delivered: InboundMessage[]
  /** The handler's answer from now on. */
  answer(verdict: MessageHandler): void
  readonly logged: readonly string[]
  /** Stops the site's link pump and transport, and starts new ones over the same folders. */
  restart(name: 'alpha' | 'bravo'): Promise<void>
  /** Starts what does not run yet. */
  start(...names: ('alpha' | 'bravo')[]): Promise<void>
  /** Until nothing is ready at alpha's. */
  waitUntilSent(): Promise<void>
  dispose(): Promise<void>
}

export function createCarrier(way: HubEndpoint, site: string, peers: readonly string[], log: Log) {
  return coalitionCarrier({
    ...way,
    peers,
    registration: {
      kind: 'mission_service',
      site,
      node_tenant_id: `tenant-${site}`,
      description: '',
      capabilities: ['consensus-session'],
    },
    capability: { hosts: ['consensus_session'], accepts: [] },
    log,
    chance: () => 0,
  })
}

/** Enrolled with each other; nothing runs yet. */
export async function createHubSites(wayOf: (node: string) => HubEndpoint): Promise<HubSites> {
  const sites = await createFiledropSites()
  const logged: string[] = []
  const line = (event: string, fields?: object) => void logged.push(JSON.stringify({ event, ...fields }))
  const log: Log = { debug: line, info: line, warn: line, error: line }
  const pumps = new Map<string, LinkPump>()
  const delivered: InboundMessage[] = []
  let answer: MessageHandler = () => ({ verdict: 'applied' })
  const handler: MessageHandler = (message) => {
    delivered.push(message)
    return answer(message)
  }
  const other = (name: string) => (name === 'alpha' ? 'bravo' : 'alpha')
  const sail = async (site: FiledropSite) => {
    const { handover } = site.transport
    if (!handover) throw new Error('file-drop hands over')
    const carrier = createCarrier(wayOf(site.name), site.name, [other(site.name)], log)
    const begun = linkPump({ carrier, handover, log, chance: () => 0, poll_interval_ms: 60_000 })
    pumps.set(site.name, begun)
    await begun.start()
  }
  const take = (name: string) => (name === 'bravo' ? handler : undefined)
  return {
    sites,
    delivered,
    answer(verdict) {
      answer = verdict
    },
    logged,
    async start(...names) {
      for (const name of names) {
        await startReceiving(sites[name], take(name))
        await sail(sites[name])
      }
    },
    async restart(name) {
      await pumps.get(name)?.stop()
      await restartSite(sites[name], take(name))
      await sail(sites[name])
    },
    async waitUntilSent() {
      await sites.alpha.transport.rescan()
      await waitUntil(() => fs.readdirSync(formatReadyPath(sites.alpha, 'bravo')).length === 0)
    },
    async dispose() {
      for (const each of pumps.values()) await each.stop()
      await sites.dispose()
    },
  }
}
