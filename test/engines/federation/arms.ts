// The ways in which messages of three sites can travel: the same federation is run over each of them.
import * as fs from 'node:fs'
import path from 'node:path'
import { carry, type Road } from '../../sites/courier.ts'
import { rabbitmq, rabbitmqWanted } from '../../support/engines/rabbitmq.ts'
import { freePorts } from '../../support/engines/server-process.ts'
import { edit, type PackagedSite, type PackagedSites } from '../../support/packaged-sites.ts'
import type { Wanted } from '../../support/requires.ts'
import { rightsOf } from '../rabbitmq/by-broker.ts'

export type Network = {
  /** A turn of whoever carries; what runs by itself needs none. */
  turn(): void
  /** Something that such a network must bear, in the middle of everything. */
  trouble(): Promise<void>
  end(): Promise<void>
}

export type Arm = {
  readonly name: string
  /** What it needs of the machine; nothing, unless said. */
  readonly wanted?: Wanted
  /** The sites know each other; none runs. `world`: with one more, for a hub. */
  prepare(sites: readonly PackagedSite[], world: PackagedSites): Promise<Network>
}

export const arms: readonly Arm[] = [
  { name: 'filedrop', prepare: byCourier },
  { name: 'mtls', prepare: byTls },
  { name: 'amqp', wanted: rabbitmqWanted, prepare: byBroker },
  { name: 'coalition', prepare: byHub },
]

/** A courier on each road, who takes a day off. */
async function byCourier(sites: readonly PackagedSite[]): Promise<Network> {
  const roads: Road[] = sites.flatMap((from) => sites.filter((to) => to !== from).map((to) => ({ from, to })))
  let daysOff = 0
  return {
    turn() {
      if (daysOff-- > 0) return
      for (const road of roads) carry(road)
    },
    async trouble() {
      daysOff = 50
    },
    end: async () => undefined,
  }
}

const byItself = { turn: () => undefined, end: async () => undefined }

/** Each pins the authorities of the others; in the middle of it one has a new certificate. */
async function byTls(sites: readonly PackagedSite[], { dir }: PackagedSites): Promise<Network> {
  const ports = await freePorts(sites.length)
  const authorityOf = ({ name }: PackagedSite) => path.join(dir, `${name}-ca.pem`)
  for (const site of sites) {
    await site.answered(['keys', 'ca', 'init'])
    await site.answered(['keys', 'cert', 'issue'])
    await site.answered(['keys', 'ca', 'show', '--out', authorityOf(site)])
  }
  const pins = sites.map((site, at) => {
    const pin = { url: `https://127.0.0.1:${ports[at]}`, ca_file: authorityOf(site) }
    return [site.name, pin] as const
  })
  for (const [at, site] of sites.entries()) {
    const peers = Object.fromEntries(pins.filter(([name]) => name !== site.name))
    edit(site, { mtls: { port: ports[at], peers } })
  }
  return {
    ...byItself,
    async trouble() {
      await sites[1]?.answered(['keys', 'cert', 'renew'])
    },
  }
}

/** A broker with a user for each site, which is killed and comes back. */
async function byBroker(sites: readonly PackagedSite[]): Promise<Network> {
  const users = Object.fromEntries(sites.map(({ name }) => [name, rightsOf(name)]))
  const broker = await rabbitmq({ users })
  await broker.start()
  for (const site of sites) {
    const others = sites.filter((each) => each !== site)
    const peers = Object.fromEntries(others.map(({ name }) => [name, { user: name }]))
    edit(site, { amqp: { url: broker.url, user: site.name, password: broker.password, peers } })
  }
  return {
    ...byItself,
    async trouble() {
      await broker.kill()
      await broker.start()
    },
    end: () => broker.end(),
  }
}

/** A hub of a fourth site, whose daemon is killed and comes back. */
async function byHub(sites: readonly PackagedSite[], { dir, sites: all }: PackagedSites): Promise<Network> {
  const { hub } = all
  if (!hub) throw new Error('a site for the hub was made')
  const [at_site, at_hub] = await freePorts(2)
  const secret_file = path.join(dir, 'node.secret')
  fs.writeFileSync(secret_file, 'a-secret-of-this-test-alone\n', { mode: 0o600 })
  const nodes = sites.map(({ name }) => ({ name, subject: `node:${name}` }))
  edit(hub, {
    platform: { roles: ['site', 'hub'] },
    site: { port: at_site },
    hub: { port: at_hub, nodes: Object.fromEntries(nodes.map(({ name, subject }) => [name, { subject }])) },
    identity: {
      clients: nodes.map(({ name, subject }) => ({ client_id: name, secret_file, subject, roles: ['node'] })),
    },
  })
  for (const site of sites) {
    const peers = sites.filter((each) => each !== site).map(({ name }) => name)
    const at = { hub_url: `http://127.0.0.1:${at_hub}`, token_url: `http://127.0.0.1:${at_site}/oauth2/token` }
    edit(site, { coalition: { ...at, secret_file, peers } })
  }
  let daemon = await hub.start()
  return {
    ...byItself,
    async trouble() {
      await daemon.kill()
      daemon = await hub.start()
    },
    async end() {
      await daemon.kill()
    },
  }
}
