// How the keys pinned for a peer change: by its key sets, and by people here who no longer trust one of them.
import { type Refused, refuse } from './errors.ts'
import { distrusting, no_key_set, revokedAmong } from './key-set.ts'
import type { Followed, Pinned } from './key-succession.ts'
import { most_keys, most_revoked, type Peer } from './peer.ts'

export function pinnedOf({ name, tenant_id, keys, root_threshold = 1, key_set, revoked = [] }: Peer): Pinned {
  return {
    ...(key_set ?? no_key_set),
    site: name,
    tenant_id,
    root_threshold,
    keys: distrusting(keys, revoked),
    revoked: [...new Set([...revoked, ...revokedAmong(keys)])],
  }
}

const day_ms = 86_400_000

/** Since when a key set of this peer may have been under way, as any message of it. `now` and result in epoch milliseconds. */
export function earliestFor({ not_after_days }: Peer, now: number): number {
  return now - not_after_days * day_ms
}

/**
 * The peer with the keys of the newest of these sets, which were found to follow; the peer itself when none is new. What
 * any of them revokes stays revoked, whatever later ones say. Refuses `invalid` when that is more than a record holds.
 */
export function repinned(peer: Peer, { pinned, sets }: Followed): Peer | Refused {
  const last = sets.at(-1)
  if (!last) return peer
  const { revoked } = pinned
  if (revoked.length > most_revoked) return refuse('invalid', 'more keys were revoked than are remembered of one peer')
  const others = peer.keys.filter(({ use }) => use !== 'message' && use !== 'root')
  const keys = [...pinned.keys, ...distrusting(others, revoked)]
  if (keys.length > most_keys) return refuse('invalid', `more than ${most_keys} keys would be pinned for one peer`)
  const { version, created, thresholds } = last.set
  return {
    ...peer,
    keys,
    threshold: thresholds.message,
    root_threshold: thresholds.root,
    key_set: { version, digest: last.digest, created },
    revoked: [...revoked],
  }
}

/** The peer with the key of this fingerprint revoked here. */
export function withoutKey(peer: Peer, fingerprint: string): Peer {
  const revoked = [...new Set([...(peer.revoked ?? []), fingerprint])]
  return { ...peer, keys: distrusting(peer.keys, revoked), revoked }
}
