// Changes the pinned keys of a peer: by its key sets, and by people here who revoke one of them.

import { listRevokedFingerprints, markRevoked, no_key_set } from '../../../kernel/cryptography/key-set.ts'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { max_peer_keys, max_revoked_keys, type Peer } from '../../../kernel/identity/peer.ts'
import type { KeySetSuccession, PinnedKeySet } from './key-succession.ts'

export function pinnedKeySetOf({
  name,
  tenant_id,
  keys,
  root_threshold = 1,
  key_set,
  revoked = [],
}: Peer): PinnedKeySet {
  return {
    ...(key_set ?? no_key_set),
    site: name,
    tenant_id,
    root_threshold,
    keys: markRevoked(keys, revoked),
    revoked: [...new Set([...revoked, ...listRevokedFingerprints(keys)])],
  }
}

const day_ms = 86_400_000

/** Since when a key set of this peer may have been under way, as any message of it. `now` and result in epoch milliseconds. */
export function earliestKeySetTime({ not_after_days }: Peer, now: number): number {
  return now - not_after_days * day_ms
}

/**
 * The peer with the keys of the newest of these sets, which were found to follow; the peer itself when none is new. What
 * any of them revokes stays revoked, whatever later ones say. Refuses `invalid` when that is more than a record holds.
 */
export function repinPeer(peer: Peer, { pinned, sets }: KeySetSuccession): Peer | Refusal {
  const last = sets.at(-1)
  if (!last) return peer
  const { revoked } = pinned
  if (revoked.length > max_revoked_keys)
    return refuse('invalid', 'more keys were revoked than are remembered of one peer')
  const others = peer.keys.filter(({ use }) => use !== 'message' && use !== 'root')
  const keys = [...pinned.keys, ...markRevoked(others, revoked)]
  if (keys.length > max_peer_keys)
    return refuse('invalid', `more than ${max_peer_keys} keys would be pinned for one peer`)
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
export function revokePeerKey(peer: Peer, fingerprint: string): Peer {
  const revoked = [...new Set([...(peer.revoked ?? []), fingerprint])]
  return { ...peer, keys: markRevoked(peer.keys, revoked), revoked }
}
