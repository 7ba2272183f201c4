// Which network moves the messages of which peer; a peer that no section names is served by couriers alone.
import * as z from 'zod'
import type { Carrier } from '../../kernel/carrier.ts'
import { type CoalitionSettings, coalitionSettings } from '../../kernel/coalition-settings.ts'
import { type Block, block } from '../../kernel/settings.ts'
import { siteName } from '../../kernel/transport.ts'

export const mtlsSettings = block('mtls', {
  listen: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .meta({ env: 'MTLS_LISTEN', doc: 'Address that peers reach this site at.' }),
  port: z.int().min(0).max(65_535).default(8421).meta({ env: 'MTLS_PORT', doc: 'Port of it; 0 picks a free one.' }),
  peers: z
    .record(siteName, z.strictObject({ url: z.url({ protocol: /^https$/ }) }))
    .default({})
    .meta({ doc: 'Peers whose messages go over HTTPS with client certificates: name to where their site listens.' }),
})

type Name = Carrier['name']

/** Section of each network, with the peers that it names. */
const sections: readonly {
  readonly name: Name
  readonly block: Block
  readonly peers: (values: unknown) => string[]
  /** Whether it serves the site itself, with no peer named. */
  readonly alone?: (values: unknown) => boolean
}[] = [
  { name: 'mtls', block: mtlsSettings, peers: (values) => Object.keys((values as { peers: object }).peers) },
  {
    name: 'coalition',
    block: coalitionSettings,
    peers: (values) => [...new Set((values as CoalitionSettings).peers)],
    alone: (values) => (values as CoalitionSettings).hub_url !== undefined,
  },
]

/** Values of a section; both a call and boot have such a thing. */
type Read = (of: Block) => unknown

/** The networks that serve anybody, with the peers of each. */
export function networksOf(read: Read): { readonly name: Name; readonly peers: readonly string[] }[] {
  return sections
    .map(({ name, block: section, peers, alone }) => {
      const values = read(section)
      return { name, peers: peers(values), alone: alone?.(values) ?? false }
    })
    .filter(({ peers, alone }) => peers.length > 0 || alone)
}

/** What moves the messages of a peer. */
export function carrierOf(peer: string, read: Read): 'filedrop' | Name {
  return networksOf(read).find(({ peers }) => peers.includes(peer))?.name ?? 'filedrop'
}

/** Peers that more than one network would serve. */
export function servedTwice(read: Read): string[] {
  const all = networksOf(read).flatMap(({ peers }) => peers)
  return [...new Set(all.filter((peer, index) => all.indexOf(peer) !== index))]
}
