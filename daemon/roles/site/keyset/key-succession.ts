// Whether a key set follows the one that is pinned: by version, by digest, and by the root keys of both.

import {
  digestKeySet,
  findKeySetFault,
  type KeySet,
  listRevokedFingerprints,
  markRevoked,
  parseKeySet,
  selectUsableKeys,
} from '../../../kernel/cryptography/key-set.ts'
import type { Jws, PublicKey, Signatures } from '../../../kernel/cryptography/signatures.ts'
import { type Refusal, refuse } from '../../../kernel/error/errors.ts'

/** The pinned key set of a site. Version 0: keys that people pinned one by one. */
export type PinnedKeySet = {
  readonly site: string
  readonly tenant_id: string
  readonly version: number
  /** SHA-384 of the payload; zeros for version 0. */
  readonly digest: string
  /** When it was made; absent for version 0. */
  readonly created?: string | undefined
  readonly root_threshold: number
  readonly keys: readonly PublicKey[]
  /** Fingerprints of keys, these and others, that count no more, whatever a later set says of them. */
  readonly revoked: readonly string[]
}

export type KeySetSuccession = {
  readonly pinned: PinnedKeySet
  /** The versions that were new, oldest first, with their digests; none for a repeat. */
  readonly sets: readonly VerifiedKeySet[]
}
export type VerifiedKeySet = { readonly set: KeySet; readonly digest: string }

/** `forked`: the site's own root keys signed two sets that cannot both be: either is a lie, and a person must look. */
export type SuccessionRefusal = { readonly refused: Refusal; readonly forked: boolean }

export type SuccessionOptions = {
  readonly signatures: Pick<Signatures, 'verify'>
  /**
   * Epoch milliseconds; none where no clock is trusted. A pinned root key that ended before then signs nothing that comes
   * now, whatever date the set gives: whoever finds an old key could choose that date.
   */
  readonly earliest?: number | undefined
}

/**
 * Goes from the pinned version to the newest of the chain (oldest first), one version at a time. Versions older than the
 * pinned one change nothing. All or nothing: one link that does not hold refuses the chain.
 */
export async function followKeySets(
  pinned: PinnedKeySet,
  chain: readonly Jws[],
  judging: SuccessionOptions,
): Promise<KeySetSuccession | SuccessionRefusal> {
  let now = pinned
  const sets: VerifiedKeySet[] = []
  for (const link of chain) {
    const next = await followLink(now, link, judging)
    if ('refused' in next) return next
    if (next.verified) sets.push(next.verified)
    now = next.pinned
  }
  return { pinned: now, sets }
}

type SuccessionStep = { readonly pinned: PinnedKeySet; readonly verified?: VerifiedKeySet }

async function followLink(
  pinned: PinnedKeySet,
  link: Jws,
  judging: SuccessionOptions,
): Promise<SuccessionStep | SuccessionRefusal> {
  const set = parseKeySet(link)
  if (!set) return refuseSuccession(refuse('invalid', 'the signed content is not a key set'))
  const { version } = set
  if (set.site !== pinned.site || set.tenant_id !== pinned.tenant_id) {
    return refuseSuccession(refuse('signature_invalid', `key set ${version} is that of another site or tenant`))
  }
  const digest = digestKeySet(link)
  if (version < pinned.version || (version === pinned.version && digest === pinned.digest)) return { pinned }
  if (version > pinned.version + 1) {
    const missing = `version ${pinned.version} is pinned, and key set ${version} does not follow it`
    return refuseSuccession(refuse('invalid', `${missing}: the versions between them are needed too`))
  }
  const { root_threshold: needed } = pinned
  const at = new Date(Math.max(Date.parse(set.created), judging.earliest ?? 0)).toISOString()
  if (!(await isSignedBy(link, pinned.keys, needed, at, judging))) {
    return refuseSuccession(
      refuse('signature_invalid', `key set ${version} lacks signatures of ${needed} pinned root keys`),
    )
  }
  if (version === pinned.version || set.previous !== pinned.digest) {
    return {
      refused: refuse('already_exists', `key set ${version} is not of the history that is pinned`),
      forked: true,
    }
  }
  const fault = await checkKeySet(set, link, judging, pinned.revoked)
  if (fault) return refuseSuccession(fault)
  if (pinned.created !== undefined && Date.parse(set.created) < Date.parse(pinned.created)) {
    return refuseSuccession(refuse('invalid', `key set ${version} is dated earlier than the one before it`))
  }
  return { pinned: pinKeySet(set, digest, pinned.revoked), verified: { set, digest } }
}

/** What a set must be by itself, whatever was before it but for the keys that count no more; undefined when it is. */
export async function checkKeySet(
  set: KeySet,
  link: Jws,
  judging: SuccessionOptions,
  revoked: readonly string[] = [],
): Promise<Refusal | undefined> {
  const fault = findKeySetFault(set)
  if (fault) return refuse('invalid', `key set ${set.version} is of no use: ${fault}`)
  const { root: needed } = set.thresholds
  const isSigned = await isSignedBy(link, markRevoked(set.keys, revoked), needed, set.created, judging)
  return isSigned
    ? undefined
    : refuse('signature_invalid', `key set ${set.version} lacks signatures of ${needed} of its own root keys`)
}

/** `revoked`: by the sets before this one, or by people. */
export function pinKeySet(set: KeySet, digest: string, revoked: readonly string[] = []): PinnedKeySet {
  const { site, tenant_id, version, created, thresholds } = set
  const keys = markRevoked(set.keys, revoked)
  const all = [...new Set([...revoked, ...listRevokedFingerprints(keys)])]
  return { site, tenant_id, version, digest, created, root_threshold: thresholds.root, keys, revoked: all }
}

/** Each key counts once, by what it is and not by what it is called; one that is retired, revoked or past its end does not. */
async function isSignedBy(
  link: Jws,
  keys: readonly PublicKey[],
  threshold: number,
  at: string,
  { signatures }: SuccessionOptions,
): Promise<boolean> {
  const able = selectUsableKeys(markRevoked(keys, listRevokedFingerprints(keys)), 'root', at)
  const found = await signatures.verify('keyset', link, able)
  return typeof found !== 'string' && new Set(found.keys.map(({ fingerprint }) => fingerprint)).size >= threshold
}

function refuseSuccession(refused: Refusal): SuccessionRefusal {
  return { refused, forked: false }
}
