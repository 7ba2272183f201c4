// Which network moves the messages of which peer; a peer that no section names is served by couriers alone.
import * as z from 'zod'
import type { Carrier } from '../../kernel/messaging/carrier.ts'
import { siteName } from '../../kernel/messaging/statement.ts'
import { brokerUrl } from '../../kernel/network/broker.ts'
import { type SettingsBlock, type SettingValues, settingsBlock } from '../../kernel/settings/settings.ts'
import { type CoalitionSettings, coalitionSettings } from '../../shared/coalition/coalition-settings.ts'

const filePath = z.string().min(1).max(4_096)

/** By what one peer is known: the authority that signs its certificate, which names it; if wanted its very keys. */
const mtlsPeer = z.strictObject({
  url: z
    .url({ protocol: /^https$/ })
    .refine((url) => new URL(url).href === `${new URL(url).origin}/`, 'must be https://host:port and nothing more'),
  ca_file: filePath,
  keys: z
    .array(z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in 64 lower-case hexadecimal digits'))
    .min(1)
    .max(16)
    .optional(),
})

export const mtlsSettings = settingsBlock('mtls', {
  listen: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .meta({ env: 'MTLS_LISTEN', doc: 'Address at which peers reach this site.' }),
  port: z
    .int()
    .min(0)
    .max(65_535)
    .default(8421)
    .meta({ env: 'MTLS_PORT', doc: 'Port at which peers reach this site; 0 picks a free one.' }),
  cert_file: filePath.optional().meta({
    env: 'MTLS_CERT_FILE',
    doc: 'Certificate of this site (PEM), leaf first (default: that of `platform keys cert`); read again when it changes.',
  }),
  key_file: filePath.optional().meta({
    env: 'MTLS_KEY_FILE',
    doc: 'Private key of the certificate (PEM, 0600, unencrypted; default: that in cert_file); read again when it changes.',
  }),
  peers: z.record(siteName, mtlsPeer).default({}).meta({
    doc: 'Peers whose messages go over HTTPS with client certificates: name to url and ca_file (PEM: the authorities of its certificate); keys narrows that to public keys, by the SHA-256 of each.',
  }),
})

export const amqpSettings = settingsBlock('amqp', {
  url: brokerUrl
    .default('amqp://127.0.0.1:5672')
    .meta({ env: 'AMQP_URL', doc: 'Broker, and virtual host as the path; amqps: unless it is on this machine.' }),
  user: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .meta({ env: 'AMQP_USER', doc: 'User at the broker; peers may require it.' }),
  password: z.string().min(1).max(1_024).optional().meta({
    env: 'AMQP_PASSWORD',
    doc: 'Password of the user; without one a client certificate identifies this site.',
    secret: true,
  }),
  tls_ca_file: filePath
    .optional()
    .meta({ doc: 'Authorities (PEM) for the broker’s certificate (default: those of the system).' }),
  tls_cert_file: filePath.optional().meta({ doc: 'Client certificate (PEM) of this site at the broker.' }),
  tls_key_file: filePath.optional().meta({ doc: 'Private key of the certificate (PEM).' }),
  prefix: siteName
    .default('platform')
    .meta({ doc: 'First part of the names of exchanges and queues; the same at all sites that share the broker.' }),
  queue_type: z.enum(['classic', 'quorum']).default('classic').meta({
    doc: 'classic: queues on one node; quorum: queues on several nodes of a cluster. An existing queue keeps its type.',
  }),
  peers: z
    .record(siteName, z.strictObject({ user: z.string().min(1).max(255).optional() }))
    .default({})
    .meta({
      doc: 'Peers whose messages go by a broker (RabbitMQ), each with the only user that may send for it.',
    }),
})

type NetworkName = Carrier['name']

/** Section of each network, with the peers that it names. */
const sections: readonly {
  readonly name: NetworkName
  readonly block: SettingsBlock
  readonly peers: (values: unknown) => string[]
  /** Whether it serves the site itself, with no peer named. */
  readonly alone?: (values: unknown) => boolean
}[] = [
  { name: 'mtls', block: mtlsSettings, peers: (values) => Object.keys((values as { peers: object }).peers) },
  { name: 'amqp', block: amqpSettings, peers: (values) => Object.keys((values as { peers: object }).peers) },
  {
    name: 'coalition',
    block: coalitionSettings,
    peers: (values) => [...new Set((values as CoalitionSettings).peers)],
    alone: (values) => (values as CoalitionSettings).hub_url !== undefined,
  },
]

/** Values of a section; both a call and boot have such a thing. */
type SectionReader = (of: SettingsBlock) => unknown

/** The networks that serve anybody, with the peers of each. */
export function listNetworks(read: SectionReader): { readonly name: NetworkName; readonly peers: readonly string[] }[] {
  return sections
    .map(({ name, block: section, peers, alone }) => {
      const values = read(section)
      return { name, peers: peers(values), alone: alone?.(values) ?? false }
    })
    .filter(({ peers, alone }) => peers.length > 0 || alone)
}

/** The carrier of a peer's messages. */
export function carrierOf(peer: string, read: SectionReader): 'filedrop' | NetworkName {
  return listNetworks(read).find(({ peers }) => peers.includes(peer))?.name ?? 'filedrop'
}

/** Peers that more than one network would serve. */
export function findPeersServedTwice(read: SectionReader): string[] {
  const all = listNetworks(read).flatMap(({ peers }) => peers)
  return [...new Set(all.filter((peer, index) => all.indexOf(peer) !== index))]
}

/** The configuration fault that keeps this site from its broker; undefined without one, or when no peer uses a broker. */
export function brokerFault(read: SectionReader): string | undefined {
  const { peers, url, user, password, tls_cert_file, tls_key_file } = read(amqpSettings) as SettingValues<
    typeof amqpSettings
  >
  if (Object.keys(peers).length === 0) return undefined
  if (!tls_cert_file !== !tls_key_file) return 'tls_cert_file and tls_key_file are needed both'
  if (password !== undefined && user === undefined) return 'there is a password, and no user (AMQP_USER)'
  if (password === undefined && !(tls_cert_file && url.startsWith('amqps:')))
    return 'the broker is shown neither a password (AMQP_PASSWORD_FILE) nor a client certificate over amqps:'
  return undefined
}
