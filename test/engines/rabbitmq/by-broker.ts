// Two real sites whose messages go by a real broker: what every test of the carrier stands on.
import { type AmqpOptions, amqpCarrier } from '../../../adapters/transport/amqp/carrier.ts'
import { inboxOf } from '../../../adapters/transport/amqp/topology.ts'
import { type Ferry, ferry, waitAfter } from '../../../daemon/boot/ferry.ts'
import type { Carrier, Handover, Landing, Parcel } from '../../../daemon/kernel/carrier.ts'
import { type Rabbitmq, type Rights, rabbitmq } from '../../support/engines/rabbitmq.ts'
import type { ServerCertificates } from '../../support/engines/server-certificates.ts'
import { until } from '../../support/site-world.ts'
import { allTaken } from '../../transport/filedrop/all-taken.ts'
import { type Site, twoSites, type World } from '../../transport/filedrop/two-sites.ts'

/** As the operator guide tells whoever runs the broker: what a site declares is its own, and it only sends to others. */
export function rightsOf(site: string, prefix = '[a-z0-9-]+'): Rights {
  return {
    configure: `^${prefix}\\.${site}(\\..+)?$`,
    write: `^${prefix}\\.(${site}\\..+|[a-z0-9-]+)$`,
    read: `^${prefix}\\.${site}(\\..+)?$`,
  }
}

/** With a user for each site, and one who may do harm. */
export function brokerOf(tls?: ServerCertificates): Promise<Rabbitmq> {
  const users = { alpha: rightsOf('alpha'), bravo: rightsOf('bravo'), mallory: rightsOf('mallory') }
  return rabbitmq({ users, ...(tls ? { tls } : {}) })
}

type End = { ferry: Ferry; carrier: Carrier }

export type Joined = {
  readonly world: World
  readonly prefix: string
  /** The carrier that a site has now. */
  carrier(site: Site): Carrier
  /** Ends the site's carrier, does this, and joins the site to the broker again. */
  apart(site: Site, meanwhile?: () => Promise<void>): Promise<void>
  /** Leaves the site without a carrier. */
  part(site: Site): Promise<void>
  /** Until each site reads what the other sends. */
  connected(): Promise<void>
  /** Until all that alpha has sent has landed at bravo's, and was judged there. */
  settle(): Promise<void>
  end(): Promise<void>
}

let worlds = 0

/** Names of its own at the broker. `given` is laid over what the carriers are told. */
export async function joined(
  broker: Pick<Rabbitmq, 'url' | 'password'>,
  given: Partial<AmqpOptions> = {},
): Promise<Joined> {
  const world = await twoSites()
  const prefix = `world${++worlds}`
  const ends = new Map<Site, End>()
  const left = new Set<string>()
  const landed = new Set<string>()
  const join = async (site: Site, other: Site) => {
    const handover = watched(site.transport.handover, left, landed, site === world.bravo)
    const carrier = amqpCarrier({
      broker: { url: broker.url, user: site.name, tls: {} },
      password: broker.password,
      site: site.name,
      prefix,
      queue_type: 'classic',
      peers: { [other.name]: { user: other.name } },
      limits: { envelope_bytes: 65_536, body_bytes: 4_194_304 },
      log: site.options().log,
      wait_ms: (failures) => Math.min(waitAfter(failures, 0.1), 1_000),
      ...given,
    })
    const made = ferry({ carrier, handover, log: site.options().log, chance: () => 0, look_every_ms: 100 })
    ends.set(site, { ferry: made, carrier })
    await made.start()
  }
  const part = async (site: Site) => {
    await ends.get(site)?.ferry.stop()
    ends.delete(site)
  }
  const otherOf = (site: Site) => (site === world.alpha ? world.bravo : world.alpha)
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
    part,
    async apart(site, meanwhile) {
      await part(site)
      await meanwhile?.()
      await join(site, otherOf(site))
    },
    async connected() {
      const all = [...ends.values()]
      await until(async () => (await Promise.all(all.map(({ carrier }) => carrier.health()))).every(({ ok }) => ok))
    },
    async settle() {
      const { alpha, bravo } = world
      await allTaken(alpha)
      await until(async () => [...left].every((envelope) => landed.has(envelope)))
      await bravo.transport.rescan()
    },
    async end() {
      for (const site of [world.alpha, world.bravo]) await part(site)
      await world.dispose()
    },
  }
}

/** Notes by their envelopes what alpha has given away and what bravo has been brought: a forgery may have the same number. */
function watched(handover: Handover | undefined, left: Set<string>, landed: Set<string>, isBravo: boolean): Handover {
  if (!handover) throw new Error('file-drop has a handover')
  if (isBravo) return noting(handover, landed)
  return {
    ...handover,
    hand: (peer, { carry, ...handing }) =>
      handover.hand(peer, {
        ...handing,
        async carry(parcels, signal) {
          const landings = await carry(parcels, signal)
          note(parcels, landings, left)
          return landings
        },
      }),
  }
}

/** Before it leaves the folder: whoever finds that empty finds it noted. */
function note(parcels: readonly Parcel[], landings: readonly Landing[], noted: Set<string>): void {
  for (const [index, { envelope }] of parcels.entries()) if (landings[index] === 'landed') noted.add(textOf(envelope))
}

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')

function noting(handover: Handover, landed: Set<string>): Handover {
  return {
    ...handover,
    async land(peer, parcels) {
      const landings = await handover.land(peer, parcels)
      note(parcels, landings, landed)
      return landings
    },
  }
}

/** Messages that wait in a queue and nobody has in hand. */
export async function waitingIn(broker: Rabbitmq, queue: string): Promise<number> {
  const { connection, channel } = await broker.connect()
  try {
    return (await channel.checkQueue(queue)).messageCount
  } finally {
    await connection.close()
  }
}

export type DeadLetter = { readonly headers: Readonly<Record<string, unknown>>; readonly bytes: number }

/** Takes the dead letters of alpha at bravo's out, once there are so many. */
export async function deadLetters(broker: Rabbitmq, { prefix }: Joined, count: number): Promise<DeadLetter[]> {
  const { connection, channel } = await broker.connect()
  const found: DeadLetter[] = []
  try {
    return await until(async () => {
      const message = await channel.get(inboxOf(prefix, 'bravo', 'alpha').dead_queue, { noAck: true })
      if (message) found.push({ headers: message.properties.headers ?? {}, bytes: message.content.length })
      return found.length >= count && found
    })
  } finally {
    await connection.close()
  }
}
