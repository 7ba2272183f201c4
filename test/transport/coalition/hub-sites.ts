// Two sites of file-drop whose messages go by a hub: real ferries, real carriers, and a hub that is real or a liar.
import * as fs from 'node:fs'
import { coalitionCarrier } from '../../../adapters/transport/coalition/coalition-carrier.ts'
import { type Ferry, ferry } from '../../../daemon/boot/ferry.ts'
import type { Log } from '../../../daemon/kernel/call.ts'
import type { Incoming, Verdict } from '../../../daemon/kernel/transport.ts'
import { until } from '../../support/site-world.ts'
import { readyOf, restart, type Site, startReceiving, twoSites, type World } from '../filedrop/two-sites.ts'
import type { Way } from './served-hub.ts'

type Handler = (message: Incoming) => Promise<Verdict> | Verdict

export type HubSites = {
  readonly sites: World
  /** What bravo's handler was given, repeats included. */
  readonly delivered: Incoming[]
  /** What it answers from now on. */
  answer(verdict: Handler): void
  readonly logged: readonly string[]
  /** Stops the site's ferry and transport, and starts others over the same folders. */
  restart(name: 'alpha' | 'bravo'): Promise<void>
  /** Starts what does not run yet. */
  start(...names: ('alpha' | 'bravo')[]): Promise<void>
  /** Until nothing is ready at alpha's. */
  sent(): Promise<void>
  dispose(): Promise<void>
}

export function carrierFor(way: Way, site: string, peers: readonly string[], log: Log) {
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
export async function hubSites(wayOf: (node: string) => Way): Promise<HubSites> {
  const sites = await twoSites()
  const logged: string[] = []
  const line = (event: string, fields?: object) => void logged.push(JSON.stringify({ event, ...fields }))
  const log: Log = { debug: line, info: line, warn: line, error: line }
  const ferries = new Map<string, Ferry>()
  const delivered: Incoming[] = []
  let answer: Handler = () => ({ verdict: 'applied' })
  const handler: Handler = (message) => {
    delivered.push(message)
    return answer(message)
  }
  const other = (name: string) => (name === 'alpha' ? 'bravo' : 'alpha')
  const sail = async (site: Site) => {
    const { handover } = site.transport
    if (!handover) throw new Error('file-drop hands over')
    const carrier = carrierFor(wayOf(site.name), site.name, [other(site.name)], log)
    const begun = ferry({ carrier, handover, log, chance: () => 0, look_every_ms: 60_000 })
    ferries.set(site.name, begun)
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
      await ferries.get(name)?.stop()
      await restart(sites[name], take(name))
      await sail(sites[name])
    },
    async sent() {
      await sites.alpha.transport.rescan()
      await until(() => fs.readdirSync(readyOf(sites.alpha, 'bravo')).length === 0)
    },
    async dispose() {
      for (const each of ferries.values()) await each.stop()
      await sites.dispose()
    },
  }
}
