// Changes the pinned keys of a peer: by its key sets, and by people at this site who revoke a key.

import { listRevokedFingerprints, markRevoked, no_key_set } from '../../../kernel/cryptography/key-set.ts'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'
import { max_peer_keys, max_revoked_keys, type Peer } from '../../../kernel/identity/peer.ts'
import type { KeySetSuccession, PinnedKeySet } from '../../../shared/key-set/key-succession.ts'

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

/**
 * The earliest time at which a key set of this peer may have been sent, like any message of it. `now` and result in
 * epoch milliseconds.
 */
export function earliestKeySetTime({ not_after_days }: Peer, now: number): number {
  return now - not_after_days * day_ms
}

/**
 * The peer with the keys of the newest of these verified sets; the peer itself when none is new. Keys revoked by any
 * of them stay revoked. Refuses `invalid` when the record of a peer cannot hold that many keys.
 */
export function repinPeer(peer: Peer, { pinned, sets }: KeySetSuccession): Peer | Refusal {
  const last = sets.at(-1)
  if (!last) return peer
  const { revoked } = pinned
  if (revoked.length > max_revoked_keys)
    return refuse('invalid', 'the key sets revoke more keys than the record of a peer can hold')
  const otherKeys = peer.keys.filter(({ use }) => use !== 'message' && use !== 'root')
  const keys = [...pinned.keys, ...markRevoked(otherKeys, revoked)]
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
