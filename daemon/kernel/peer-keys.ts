// How the keys pinned for a peer change: by its key sets, and by people here who no longer trust one of them.
import { isRefused, type Refused, refuse } from './errors.ts'
import { no_key_set } from './key-set.ts'
import type { Pinned, Verified } from './key-succession.ts'
import type { PublicKey } from './keys.ts'
import { most_revoked, type Peer } from './peer.ts'

export function pinnedOf({ name, tenant_id, keys, root_threshold = 1, key_set, revoked = [] }: Peer): Pinned {
  return { ...(key_set ?? no_key_set), site: name, tenant_id, root_threshold, keys: distrusting(keys, revoked) }
}

/**
 * The peer with the keys of the last of these sets, which were found to follow; the peer itself when there are none. What
 * any of them revokes stays revoked, whatever later ones say. Refuses `invalid` when that is more than a record holds.
 */
export function repinned(peer: Peer, sets: readonly Verified[]): Peer | Refused {
  let next = peer
  for (const each of sets) {
    const following = withSet(next, each)
    if (isRefused(following)) return following
    next = following
  }
  return next
}

function withSet(peer: Peer, { set, digest }: Verified): Peer | Refused {
  const revoked = [...new Set([...(peer.revoked ?? []), ...revokedAmong(peer.keys), ...revokedAmong(set.keys)])]
  if (revoked.length > most_revoked) return refuse('invalid', 'more keys were revoked than are remembered of one peer')
  const others = peer.keys.filter(({ use }) => use !== 'message' && use !== 'root')
  const { version, created, thresholds } = set
  return {
    ...peer,
    keys: distrusting([...set.keys, ...others], revoked),
    threshold: thresholds.message,
    root_threshold: thresholds.root,
    key_set: { version, digest, created },
    revoked,
  }
}

/** The peer with the key of this fingerprint revoked here. */
export function withoutKey(peer: Peer, fingerprint: string): Peer {
  const revoked = [...new Set([...(peer.revoked ?? []), fingerprint])]
  return { ...peer, keys: distrusting(peer.keys, revoked), revoked }
}

function distrusting(keys: readonly PublicKey[], revoked: readonly string[]): PublicKey[] {
  return keys.map((key) => (revoked.includes(key.fingerprint) ? { ...key, status: 'revoked' } : key))
}

function revokedAmong(keys: readonly PublicKey[]): string[] {
  return keys.filter(({ status }) => status === 'revoked').map(({ fingerprint }) => fingerprint)
}
