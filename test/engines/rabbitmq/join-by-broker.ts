// Two real sites whose messages go by a real broker: what every test of the carrier stands on.
import { type AmqpOptions, amqpCarrier } from '../../../adapters/transport/amqp/carrier.ts'
import { inboxOf } from '../../../adapters/transport/amqp/topology.ts'
import { type LinkPump, linkPump } from '../../../daemon/boot/links/link-pump.ts'
import type { CarriedMessage, Carrier, CarryOutcome, Handover } from '../../../daemon/kernel/messaging/carrier.ts'
import { computeBackoff_ms } from '../../../daemon/kernel/network/backoff.ts'
import { type Rabbitmq, type RabbitmqRights, rabbitmq } from '../../support/engines/rabbitmq.ts'
import type { ServerCertificateFiles } from '../../support/engines/server-certificates.ts'
import { sharedRabbitmq } from '../../support/engines/shared-servers.ts'
import { createFiledropSites, type FiledropSite, type FiledropSites } from '../../support/filedrop/filedrop-sites.ts'
import { waitUntilTaken } from '../../support/filedrop/wait-until-taken.ts'
import { waitUntil } from '../../support/site/test-site.ts'

/** As the operator guide advises the broker's administrator: a site declares its own objects alone, and sends to others. */
export function buildSiteRights(site: string, prefix = '[a-z0-9-]+'): RabbitmqRights {
  return {
    configure: `^${prefix}\\.${site}(\\..+)?$`,
    write: `^${prefix}\\.(${site}\\..+|[a-z0-9-]+)$`,
    read: `^${prefix}\\.${site}(\\..+)?$`,
  }
}

const siteUsers = {
  alpha: buildSiteRights('alpha'),
  bravo: buildSiteRights('bravo'),
  mallory: buildSiteRights('mallory'),
}

/** A broker of the test file alone, with a user for each site and a hostile one. */
export function createBroker(tls?: ServerCertificateFiles): Promise<Rabbitmq> {
  return rabbitmq({ users: siteUsers, ...(tls ? { tls } : {}) })
}

/** The broker of the run, with a vhost of the test file and the same users. */
export function shareBroker(vhost: string): Rabbitmq {
  return sharedRabbitmq(vhost, siteUsers)
}

type BrokerLink = { linkPump: LinkPump; carrier: Carrier }

export type BrokerSites = {
  readonly world: FiledropSites
  readonly prefix: string
  /** The carrier that a site has now. */
  carrier(site: FiledropSite): Carrier
  /** Ends the site's carrier, does this, and joins the site to the broker again. */
  disconnectDuring(site: FiledropSite, meanwhile?: () => Promise<void>): Promise<void>
  /** Leaves the site without a carrier. */
  disconnect(site: FiledropSite): Promise<void>
  /** Until each site reads what the other sends. */
  waitUntilConnected(): Promise<void>
  /** Until all that alpha has sent has landed at bravo's, and was judged there. */
  deliverAll(): Promise<void>
  end(): Promise<void>
}

let prefixCount = 0

/** With its own names at the broker. `changes` is laid over the options of the carriers. */
export async function joinByBroker(
  broker: Pick<Rabbitmq, 'url' | 'password'>,
  changes: Partial<AmqpOptions> = {},
): Promise<BrokerSites> {
  const world = await createFiledropSites()
  const prefix = `world${++prefixCount}`
  const ends = new Map<FiledropSite, BrokerLink>()
  const left = new Set<string>()
  const landed = new Set<string>()
  const join = async (site: FiledropSite, other: FiledropSite) => {
    const handover = watchHandover(site.transport.handover, left, landed, site === world.bravo)
    const carrier = amqpCarrier({
      broker: { url: broker.url, user: site.name, tls: {} },
      password: broker.password,
      site: site.name,
      prefix,
      queue_type: 'classic',
      peers: { [other.name]: { user: other.name } },
      limits: { envelope_bytes: 65_536, body_bytes: 4_194_304 },
      log: site.options().log,
      wait_ms: (failures) => Math.min(computeBackoff_ms(failures, 0.1), 1_000),
      ...changes,
    })
    const made = linkPump({ carrier, handover, log: site.options().log, chance: () => 0, poll_interval_ms: 100 })
    ends.set(site, { linkPump: made, carrier })
    await made.start()
  }
  const part = async (site: FiledropSite) => {
    await ends.get(site)?.linkPump.stop()
    ends.delete(site)
  }
  const otherOf = (site: FiledropSite) => (site === world.alpha ? world.bravo : world.alpha)
  await join(world.alpha, world.bravo)
  await join(world.bravo, world.alpha)
  return {
    world,
    prefix,
    carrier(site) {
      const { carrier } = ends.get(site) ?? {}
      if (!carrier) throw new Error(`${site.name} has no carrier now`)
      return carrier
    },
    disconnect: part,
    async disconnectDuring(site, meanwhile) {
      await part(site)
      await meanwhile?.()
      await join(site, otherOf(site))
    },
    async waitUntilConnected() {
      const all = [...ends.values()]
      await waitUntil(async () => (await Promise.all(all.map(({ carrier }) => carrier.health()))).every(({ ok }) => ok))
    },
    async deliverAll() {
      const { alpha, bravo } = world
      await waitUntilTaken(alpha)
      await waitUntil(async () => [...left].every((envelope) => landed.has(envelope)))
      await bravo.transport.rescan()
    },
    async end() {
      for (const site of [world.alpha, world.bravo]) await part(site)
      await world.dispose()
    },
  }
}

/** Notes by their envelopes the messages that left alpha and reached bravo: a forgery may have the same number. */
function watchHandover(
  handover: Handover | undefined,
  left: Set<string>,
  landed: Set<string>,
  isBravo: boolean,
): Handover {
  if (!handover) throw new Error('file-drop has a handover')
  if (isBravo) return noteHandover(handover, landed)
  return {
    ...handover,
    offer: (peer, { carry, ...handing }) =>
      handover.offer(peer, {
        ...handing,
        async carry(parcels, signal) {
          const landings = await carry(parcels, signal)
          noteLandings(parcels, landings, left)
          return landings
        },
      }),
  }
}

/** Before it leaves the folder: once the folder is empty, the note is there. */
function noteLandings(parcels: readonly CarriedMessage[], landings: readonly CarryOutcome[], noted: Set<string>): void {
  for (const [index, { envelope }] of parcels.entries()) if (landings[index] === 'landed') noted.add(textOf(envelope))
}

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')

function noteHandover(handover: Handover, landed: Set<string>): Handover {
  return {
    ...handover,
    async receive(peer, parcels) {
      const landings = await handover.receive(peer, parcels)
      noteLandings(parcels, landings, landed)
      return landings
    },
  }
}

/** Messages that wait in a queue and nobody has in hand. */
export async function countQueuedMessages(broker: Rabbitmq, queue: string): Promise<number> {
  const { connection, channel } = await broker.connect()
  try {
    return (await channel.checkQueue(queue)).messageCount
  } finally {
    await connection.close()
  }
}

export type DeadLetter = { readonly headers: Readonly<Record<string, unknown>>; readonly bytes: number }

/** Takes the dead letters of alpha at bravo's out, once there are so many. */
export async function takeDeadLetters(broker: Rabbitmq, { prefix }: BrokerSites, count: number): Promise<DeadLetter[]> {
  const { connection, channel } = await broker.connect()
  const found: DeadLetter[] = []
  try {
    return await waitUntil(async () => {
      const message = await channel.get(inboxOf(prefix, 'bravo', 'alpha').dead_queue, { noAck: true })
      if (message) found.push({ headers: message.properties.headers ?? {}, bytes: message.content.length })
      return found.length >= count && found
    })
  } finally {
    await connection.close()
  }
}
