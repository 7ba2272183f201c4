// The ways in which messages of three sites can travel: the same federation is run over each of them.
import * as fs from 'node:fs'
import path from 'node:path'
import { rabbitmq, rabbitmqRequirement } from '../../support/engines/rabbitmq.ts'
import { findFreePorts } from '../../support/engines/server-process.ts'
import type { ToolRequirement } from '../../support/runner/requires.ts'
import { type CourierRoute, carryParcels } from '../../support/site/courier.ts'
import { editProfile, type FederatedSite, type PackagedFederation } from '../../support/site/packaged-federation.ts'
import { buildSiteRights } from '../rabbitmq/join-by-broker.ts'

export type FederationNetwork = {
  /** One turn of the carrier; an automatic network needs none. */
  carry(): void
  /** Something that such a network must bear, in the middle of everything. */
  disrupt(): Promise<void>
  end(): Promise<void>
}

export type FederationTransport = {
  readonly name: string
  /** Its requirement on the machine; none by default. */
  readonly requirement?: ToolRequirement
  /** The sites know each other; none runs. `world`: with one more, for a hub. */
  prepare(sites: readonly FederatedSite[], world: PackagedFederation): Promise<FederationNetwork>
}

export const federationTransports: readonly FederationTransport[] = [
  { name: 'filedrop', prepare: connectByCourier },
  { name: 'mtls', prepare: connectByMtls },
  { name: 'amqp', requirement: rabbitmqRequirement, prepare: connectByBroker },
  { name: 'coalition', prepare: connectByHub },
]

/** A courier on each road, who takes a day off. */
async function connectByCourier(sites: readonly FederatedSite[]): Promise<FederationNetwork> {
  const roads: CourierRoute[] = sites.flatMap((from) => sites.filter((to) => to !== from).map((to) => ({ from, to })))
  let daysOff = 0
  return {
    carry() {
      if (daysOff-- > 0) return
      for (const road of roads) carryParcels(road)
    },
    async disrupt() {
      daysOff = 50
    },
    end: async () => undefined,
  }
}

const automaticDelivery = { carry: () => undefined, end: async () => undefined }

/** Each pins the authorities of the others; in the middle of it one has a new certificate. */
async function connectByMtls(sites: readonly FederatedSite[], { dir }: PackagedFederation): Promise<FederationNetwork> {
  const ports = await findFreePorts(sites.length)
  const authorityOf = ({ name }: FederatedSite) => path.join(dir, `${name}-ca.pem`)
  for (const site of sites) {
    await site.runJson(['keys', 'ca', 'init'])
    await site.runJson(['keys', 'cert', 'issue'])
    await site.runJson(['keys', 'ca', 'show', '--out', authorityOf(site)])
  }
  const pins = sites.map((site, at) => {
    const pin = { url: `https://127.0.0.1:${ports[at]}`, ca_file: authorityOf(site) }
    return [site.name, pin] as const
  })
  for (const [at, site] of sites.entries()) {
    const peers = Object.fromEntries(pins.filter(([name]) => name !== site.name))
    editProfile(site, { mtls: { port: ports[at], peers } })
  }
  return {
    ...automaticDelivery,
    async disrupt() {
      await sites[1]?.runJson(['keys', 'cert', 'renew'])
    },
  }
}

/** A broker with a user for each site, which is killed and comes back. */
async function connectByBroker(sites: readonly FederatedSite[]): Promise<FederationNetwork> {
  const users = Object.fromEntries(sites.map(({ name }) => [name, buildSiteRights(name)]))
  const broker = await rabbitmq({ users })
  await broker.start()
  for (const site of sites) {
    const others = sites.filter((each) => each !== site)
    const peers = Object.fromEntries(others.map(({ name }) => [name, { user: name }]))
    editProfile(site, { amqp: { url: broker.url, user: site.name, password: broker.password, peers } })
  }
  return {
    ...automaticDelivery,
    async disrupt() {
      await broker.kill()
      await broker.start()
    },
    end: () => broker.end(),
  }
}

/** A hub of a fourth site, whose daemon is killed and comes back. */
async function connectByHub(
  sites: readonly FederatedSite[],
  { dir, sites: all }: PackagedFederation,
): Promise<FederationNetwork> {
  const { hub } = all
  if (!hub) throw new Error('a site for the hub was made')
  const [at_site, at_hub] = await findFreePorts(2)
  const secret_file = path.join(dir, 'node.secret')
  fs.writeFileSync(secret_file, 'a-secret-of-this-test-alone\n', { mode: 0o600 })
  const nodes = sites.map(({ name }) => ({ name, subject: `node:${name}` }))
  editProfile(hub, {
    platform: { roles: ['site', 'hub'] },
    site: { port: at_site },
    hub: {
      port: at_hub,
      metrics_listen: 'none',
      nodes: Object.fromEntries(nodes.map(({ name, subject }) => [name, { subject }])),
    },
    identity: {
      clients: nodes.map(({ name, subject }) => ({ client_id: name, secret_file, subject, roles: ['node'] })),
    },
  })
  for (const site of sites) {
    const peers = sites.filter((each) => each !== site).map(({ name }) => name)
    const at = { hub_url: `http://127.0.0.1:${at_hub}`, token_url: `http://127.0.0.1:${at_site}/oauth2/token` }
    editProfile(site, { coalition: { ...at, secret_file, peers } })
  }
  let daemon = await hub.start()
  return {
    ...automaticDelivery,
    async disrupt() {
      await daemon.kill()
      daemon = await hub.start()
    },
    async end() {
      await daemon.kill()
    },
  }
}
