// Opens the networks that the profile names peers for; the code of the others is never loaded.
import type { Log } from '../kernel/call.ts'
import type { Carrier } from '../kernel/carrier.ts'
import type { Peers } from '../kernel/peer.ts'
import type { Block, Resolved } from '../kernel/settings.ts'
import { amqpSettings, networksOf } from '../roles/site/carrier-settings.ts'
import { filedropSettings } from '../roles/site/settings.ts'
import { waitAfter } from './ferry.ts'
import { valuesOf } from './profile.ts'
import type { SiteFolder } from './site-folder.ts'

export type NetworkMaterials = {
  readonly folder: SiteFolder
  readonly resolved: Resolved
  /** This site's name. */
  readonly site: string
  readonly peers: Peers
  readonly log: Log
  /** Hexadecimal digits of so many bytes. */
  readonly random: (bytes: number) => string
}

type Maker = (given: NetworkMaterials) => Promise<Carrier>

const makers: Readonly<Partial<Record<Carrier['name'], Maker>>> = {
  async amqp({ resolved, site, log, random }) {
    const { amqpCarrier } = await import('../../adapters/transport/amqp/carrier.ts')
    const { url, user, password, prefix, queue_type, peers, ...tls } = valuesOf(resolved, amqpSettings)
    const { max_envelope_bytes: envelope_bytes, max_body_bytes: body_bytes } = valuesOf(resolved, filedropSettings)
    const files = { ca_file: tls.tls_ca_file, cert_file: tls.tls_cert_file, key_file: tls.tls_key_file }
    return amqpCarrier({
      broker: { url, user, tls: files },
      password,
      site,
      prefix,
      queue_type,
      peers,
      limits: { envelope_bytes, body_bytes },
      log,
      wait_ms: (failures) => waitAfter(failures, evenly(random)),
    })
  },
}

/** A number from 0 to 1. */
export function evenly(random: (bytes: number) => string): number {
  return Number.parseInt(random(6), 16) / 2 ** 48
}

/** For `networksOf` and its like. */
export const readFrom = (resolved: Resolved) => (section: Block) => valuesOf(resolved, section)

/** None is started yet. Throws what a carrier says of settings that cannot be used. */
export async function networkCarriers(given: NetworkMaterials): Promise<Carrier[]> {
  const opening = networksOf(readFrom(given.resolved)).map(({ name }) => makers[name]?.(given))
  return (await Promise.all(opening)).filter((carrier) => carrier !== undefined)
}
