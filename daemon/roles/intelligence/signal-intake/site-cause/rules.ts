// Reads causes out of what other roles list: which occurrence each is, and how a signal tells of it.
import * as z from 'zod'
import { label } from '../../../../kernel/label/label.ts'
import type { SiteCause } from './model.ts'

/** As far as it matters here: other roles may say more in a later version. */
export const dissentPage = z.object({
  items: z.array(
    z.object({
      session_id: z.string().min(1).max(128),
      tenant_id: z.string().min(1),
      lens_id: z.string(),
      classification: label,
      created_at: z.iso.datetime(),
      reason: z.string().max(128),
    }),
  ),
  next_cursor: z.string().optional(),
})
export type DissentFeedItem = z.infer<typeof dissentPage>['items'][number]

export const quarantinePage = z.object({
  items: z.array(
    z.object({ id: z.string().min(1).max(400), peer: z.string().min(1), reason: z.string().max(128), at: z.string() }),
  ),
  next_cursor: z.string().optional(),
})
export type QuarantineFeedItem = z.infer<typeof quarantinePage>['items'][number]

export const channelPage = z.object({
  items: z.array(
    z.object({
      peer: z.string().min(1),
      direction: z.enum(['out', 'in']),
      stale: z.boolean(),
      epoch: z.int(),
      highest_seq: z.int(),
      received: z.int(),
      inventory_at: z.iso.datetime().optional(),
    }),
  ),
})
export type ChannelFeedItem = z.infer<typeof channelPage>['items'][number]

/** A session leaves IN_CONFLICT for good, so each is in conflict once, however many records tell of it. */
export function causeOfConflict({
  session_id,
  tenant_id,
  lens_id,
  classification,
  created_at,
  reason,
}: DissentFeedItem): SiteCause {
  return {
    ...{ kind: 'conflict', key: session_id, tenant_id, label: classification, detected_at: created_at },
    subject: { type: 'event', id: session_id, name: `Consensus session ${session_id}` },
    title: 'A consensus session is in conflict',
    description: `Reason: ${reason}. Lens: ${lens_id}.`,
  }
}

/** What a peer wrote is not repeated: names of files and reasons are the site's own. A name that comes again comes at another time. */
export function causeOfQuarantine({ id, peer, reason, at }: QuarantineFeedItem, tenant_id: string): SiteCause {
  return {
    ...{ kind: 'quarantine', key: `${id} ${at}`, tenant_id, ...(isInstant(at) ? { detected_at: at } : {}) },
    subject: { type: 'document', id: id.slice(0, 256), name: id.slice(0, 256) },
    title: `A message of ${peer} is in quarantine: ${reason}`.slice(0, 512),
  }
}

/** Undefined for one that is not stale. Whatever ends it is counted or dated, so the next time has another key. */
export function causeOfStaleChannel(channel: ChannelFeedItem, tenant_id: string): SiteCause | undefined {
  const { peer, direction, stale, epoch, highest_seq, received, inventory_at = 'never' } = channel
  if (!stale) return undefined
  return {
    ...{
      kind: 'stale_channel',
      key: [peer, direction, inventory_at, epoch, highest_seq, received].join(' '),
      tenant_id,
    },
    subject: { type: 'organization', id: peer, name: peer },
    title: `Nothing comes from ${peer} as it should`,
    description: `No inventory for three of its intervals; the last one: ${inventory_at}.`,
  }
}

/** How far back a look goes behind the newest that the one before has seen: what is written late is found all the same. */
const overlap_ms = 600_000

/** `newest`: epoch milliseconds, of all that an earlier look has seen; undefined where there was none. */
export function isBehind(at: string, newest: number | undefined): boolean {
  return newest !== undefined && Date.parse(at) < newest - overlap_ms
}

function isInstant(at: string): boolean {
  return z.iso.datetime().safeParse(at).success
}
