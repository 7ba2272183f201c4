// Settings of a coalition: read by the site role, which connects to the hub, and by consensus, which publishes to its
// feed.
import * as z from 'zod'
import { isReleasableTo, isWithinCeiling, type Label, type LabelPolicy, labelTerm } from '../../kernel/label/label.ts'
import { siteName } from '../../kernel/messaging/statement.ts'
import { type SettingValues, settingsBlock } from '../../kernel/settings/settings.ts'
import { capabilityMessage } from './hub-protocol.ts'

const guardedUrl = z
  .url({ protocol: /^https?$/ })
  .max(2_048)
  .refine(isTlsOrLoopbackUrl, 'must be https:, or http: to this machine, and hold no password')

export const coalitionSettings = settingsBlock('coalition', {
  hub_url: guardedUrl.optional().meta({
    env: 'COALITION_HUB_URL',
    doc: 'URL of the coalition’s hub; the site joins it as a node with the site’s name.',
  }),
  token_url: guardedUrl.optional().meta({ env: 'COALITION_TOKEN_URL', doc: 'Token endpoint of the hub’s site.' }),
  client_id: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .meta({ env: 'COALITION_CLIENT_ID', doc: 'Client of this site there (default: the site’s name).' }),
  secret_file: z
    .string()
    .min(1)
    .optional()
    .meta({ env: 'COALITION_SECRET_FILE', doc: 'File with the client’s secret (0600); read again for each token.' }),
  ca_file: z
    .string()
    .min(1)
    .optional()
    .meta({ doc: 'Authorities (PEM) for the hub’s certificate (default: those of the system).' }),
  description: z.string().max(512).default('').meta({ doc: 'Description of this node for the other nodes.' }),
  peers: z
    .array(siteName)
    .max(256)
    .default([])
    .meta({ doc: 'Peers whose messages go by the hub; each is a node with its name there.' }),
  accepts: capabilityMessage.shape.accepts
    .default([])
    .meta({ doc: 'Content of the capability message: accepted types of contributions and their lenses.' }),
  feed_level: labelTerm.default('UNCLASSIFIED').meta({
    doc: 'Highest level of a session whose ratification the status feed publishes; sessions with categories are never published.',
  }),
  feed_audience: z.array(labelTerm).max(64).default([]).meta({
    doc: 'Audience that the readers of the feed represent; only sessions releasable to one of these names are published.',
  }),
})
export type CoalitionSettings = SettingValues<typeof coalitionSettings>

type CoalitionEndpoints = {
  readonly hub_url?: string | undefined
  readonly token_url?: string | undefined
  readonly secret_file?: string | undefined
  readonly peers: readonly string[]
}

/** The fault of a profile that names a hub and lacks another setting; undefined when none is missing. */
export function findCoalitionFault({ hub_url, token_url, secret_file, peers }: CoalitionEndpoints): string | undefined {
  if (hub_url === undefined) return peers.length > 0 ? 'peers are named, and no hub_url' : undefined
  const missing = Object.entries({ token_url, secret_file }).filter(([, value]) => value === undefined)
  return missing.length > 0 ? `hub_url needs ${missing.map(([name]) => name).join(' and ')}` : undefined
}

/** Whether the feed may carry a session with this label. Every member of the coalition reads the feed. */
export function mayPublishToFeed(
  label: Label,
  { hub_url, feed_level, feed_audience }: Pick<CoalitionSettings, 'hub_url' | 'feed_level' | 'feed_audience'>,
  policy: LabelPolicy,
): boolean {
  if (hub_url === undefined || !policy.levels.includes(feed_level)) return false
  const ceiling: Label = { policy: policy.policy, level: feed_level, categories: [], originator: label.originator }
  return isWithinCeiling(ceiling, label, policy) && isReleasableTo(label, feed_audience)
}

function isTlsOrLoopbackUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname)
}
