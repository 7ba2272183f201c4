// Derives causes from the lists of other roles: the key of each occurrence, and the text of its signal.
import * as z from 'zod'
import { shortenText } from '../../../../kernel/text/shorten-text.ts'
import type { PeerDecision } from '../../../../shared/peer-decision/peer-decision.ts'
import type { SiteCause } from '../../../../shared/signal-cause/report-cause.ts'
import type {
  ChannelListItem,
  DissentListItem,
  QuarantineListItem,
} from '../../../../shared/signal-cause/signal-cause-lists.ts'

/**
 * The cause of a session in conflict. A session never returns to IN_CONFLICT, so it has one key, for any number of
 * records.
 */
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

/** The cause of a peer's decision, and of its retraction, which has another number. */
export function causeOfPeerDecision({
  id,
  seq,
  tenant_id,
  classification,
  origin,
  status,
  decision,
  lens_id,
  subject,
  updated_at,
}: PeerDecision): SiteCause {
  const outcome = status === 'standing' ? `decided: ${decision}` : `withdrew its decision: ${decision}`
  const about = subject ? ` Subject: ${subject.left}, ${subject.right}.` : ''
  return {
    ...{ kind: 'peer_decision', key: `${id} ${seq}`, tenant_id, label: classification, detected_at: updated_at },
    subject: { type: 'event', id, name: `Consensus session ${id}` },
    title: shortenText(`${origin} ${outcome}`, 512),
    description: shortenText(`Lens: ${lens_id}.${about}`, 4_096),
  }
}

/**
 * The cause of a quarantined item. Text of the peer is not quoted: file names and reasons are the site's own. A name
 * that returns has another time.
 */
export function causeOfQuarantine({ id, peer, reason, at }: QuarantineListItem, tenant_id: string): SiteCause {
  return {
    ...{ kind: 'quarantine', key: `${id} ${at}`, tenant_id, ...(isInstant(at) ? { detected_at: at } : {}) },
    subject: { type: 'document', id: id.slice(0, 256), name: id.slice(0, 256) },
    title: shortenText(`A message of ${peer} is in quarantine: ${reason}`, 512),
  }
}

/**
 * The cause of a stale channel; undefined for another one. Each stale period has a different key, since counts and
 * times differ.
 */
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
    title: `The channel from ${peer} is stale`,
    description: `No inventory arrived for three of its intervals; the last one arrived at ${inventory_at}.`,
  }
}

/** Overlap with the previous walk, so that items written late are found. */
const overlap_ms = 600_000

/**
 * Whether an item is older than the overlap. `newest`: time of the newest item of an earlier walk, in epoch
 * milliseconds; undefined before the first.
 */
export function isBehind(at: string, newest: number | undefined): boolean {
  return newest !== undefined && Date.parse(at) < newest - overlap_ms
}

function isInstant(at: string): boolean {
  return z.iso.datetime().safeParse(at).success
}
