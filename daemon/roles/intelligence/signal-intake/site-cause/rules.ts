// Reads causes out of what other roles list: which occurrence each is, and how a signal tells of it.
import * as z from 'zod'
import type {
  ChannelListItem,
  DissentListItem,
  QuarantineListItem,
} from '../../../../shared/signal-cause/signal-cause-lists.ts'
import type { SiteCause } from './model.ts'

/** A session leaves IN_CONFLICT for good, so each is in conflict once, however many records tell of it. */
export function causeOfConflict({
  session_id,
  tenant_id,
  lens_id,
  classification,
  created_at,
  reason,
}: DissentListItem): SiteCause {
  return {
    ...{ kind: 'conflict', key: session_id, tenant_id, label: classification, detected_at: created_at },
    subject: { type: 'event', id: session_id, name: `Consensus session ${session_id}` },
    title: 'A consensus session is in conflict',
    description: `Reason: ${reason}. Lens: ${lens_id}.`,
  }
}

/** What a peer wrote is not repeated: names of files and reasons are the site's own. A name that comes again comes at another time. */
export function causeOfQuarantine({ id, peer, reason, at }: QuarantineListItem, tenant_id: string): SiteCause {
  return {
    ...{ kind: 'quarantine', key: `${id} ${at}`, tenant_id, ...(isInstant(at) ? { detected_at: at } : {}) },
    subject: { type: 'document', id: id.slice(0, 256), name: id.slice(0, 256) },
    title: `A message of ${peer} is in quarantine: ${reason}`.slice(0, 512),
  }
}

/** Undefined for one that is not stale. Whatever ends it is counted or dated, so the next time has another key. */
export function causeOfStaleChannel(channel: ChannelListItem, tenant_id: string): SiteCause | undefined {
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
