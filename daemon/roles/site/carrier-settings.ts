// Which network moves the messages of which peer; a peer that no section names is served by couriers alone.
import * as z from 'zod'
import type { Carrier } from '../../kernel/carrier.ts'
import { type Block, block } from '../../kernel/settings.ts'
import { siteName } from '../../kernel/transport.ts'

const file = z.string().min(1).max(4_096)

/** By what one peer is known: the authority that signs its certificate, which names it; if wanted its very keys. */
const mtlsPeer = z.strictObject({
  url: z
    .url({ protocol: /^https$/ })
    .refine((url) => new URL(url).href === `${new URL(url).origin}/`, 'must be https://host:port and nothing more'),
  ca_file: file,
  keys: z
    .array(z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in 64 lower-case hexadecimal digits'))
    .min(1)
    .max(16)
    .optional(),
})

export const mtlsSettings = block('mtls', {
  listen: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .meta({ env: 'MTLS_LISTEN', doc: 'Address that peers reach this site at.' }),
  port: z.int().min(0).max(65_535).default(8421).meta({ env: 'MTLS_PORT', doc: 'Port of it; 0 picks a free one.' }),
  cert_file: file.optional().meta({
    env: 'MTLS_CERT_FILE',
    doc: 'Certificate of this site (PEM), leaf first; that of `platform keys cert` when absent. Read again when it changes.',
  }),
  key_file: file.optional().meta({
    env: 'MTLS_KEY_FILE',
    doc: 'Private key of it (PEM, 0600, in the open); that of cert_file when absent. Read again when it changes.',
  }),
  peers: z.record(siteName, mtlsPeer).default({}).meta({
    doc: 'Peers whose messages go over HTTPS with client certificates: name to url and ca_file (PEM: who may sign its certificate); keys narrows that to public keys, by the SHA-256 of each.',
  }),
})

type Name = Carrier['name']

/** Section of each network, with the peers that it names. */
const sections: readonly {
  readonly name: Name
  readonly block: Block
  readonly peers: (values: unknown) => string[]
}[] = [{ name: 'mtls', block: mtlsSettings, peers: (values) => Object.keys((values as { peers: object }).peers) }]

/** Values of a section; both a call and boot have such a thing. */
type Read = (of: Block) => unknown

/** The networks that serve anybody, with the peers of each. */
export function networksOf(read: Read): { readonly name: Name; readonly peers: readonly string[] }[] {
  return sections
    .map(({ name, block: section, peers }) => ({ name, peers: peers(read(section)) }))
    .filter(({ peers }) => peers.length > 0)
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
