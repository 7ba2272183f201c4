// Succession of key sets: a set must follow the pinned one by version, by digest, and by the root keys of both.

import {
  digestKeySet,
  findKeySetFault,
  type KeySet,
  listRevokedFingerprints,
  markRevoked,
  readKeySet,
  selectUsableKeys,
} from '../../kernel/cryptography/key-set.ts'
import type { Jws, PublicKey, Signatures } from '../../kernel/cryptography/signatures.ts'
import { isRefusal, type Refusal, refuse } from '../../kernel/error/errors.ts'

/** The pinned key set of a site. Version 0: keys that people pinned one by one. */
export type PinnedKeySet = {
  readonly site: string
  readonly tenant_id: string
  readonly version: number
  /** SHA-384 of the payload; zeros for version 0. */
  readonly digest: string
  /** Creation time of the set; absent for version 0. */
  readonly created?: string | undefined
  readonly root_threshold: number
  readonly keys: readonly PublicKey[]
  /** Fingerprints of revoked keys, also of other sets; a later set cannot reinstate them. */
  readonly revoked: readonly string[]
}

export type KeySetSuccession = {
  readonly pinned: PinnedKeySet
  /** The new versions, oldest first, with their digests; empty for a repeat. */
  readonly sets: readonly VerifiedKeySet[]
}
export type VerifiedKeySet = { readonly set: KeySet; readonly digest: string }

/**
 * `forked`: the root keys of the site signed two contradictory sets. One of them is false, and a person must decide.
 */
export type SuccessionRefusal = { readonly refusal: Refusal; readonly forked: boolean }

export type SuccessionOptions = {
  readonly signatures: Pick<Signatures, 'verify'>
  /**
   * Epoch milliseconds; undefined without a trusted clock. A pinned root key that ended before this time cannot sign
   * a set that arrives now, whatever date the set has: a person who obtains an old key could choose that date.
   */
  readonly earliest?: number | undefined
}

/**
 * Verifies the chain (oldest first) from the pinned version to the newest, one version at a time. Versions older than
 * the pinned one change nothing. One invalid link refuses the whole chain.
 */
export async function followKeySets(
  pinned: PinnedKeySet,
  chain: readonly Jws[],
  options: SuccessionOptions,
): Promise<KeySetSuccession | SuccessionRefusal> {
  let now = pinned
  const sets: VerifiedKeySet[] = []
  for (const link of chain) {
    const next = await followLink(now, link, options)
    if ('refusal' in next) return next
    if (next.verified) sets.push(next.verified)
    now = next.pinned
  }
  return { pinned: now, sets }
}

/** A site whose keys are known without the version of their set. */
type KnownKeys = Pick<PinnedKeySet, 'site' | 'tenant_id' | 'keys' | 'root_threshold'>

/**
 * Verifies a chain outside of the site that receives it; undefined when it holds. Where only the sender's keys are known,
 * they vouch for the part of the chain that follows from them, as if its predecessor were pinned; the sets before it must
 * lead to it by version and digest.
 */
export async function verifyKeySetChain(
  sender: PinnedKeySet | KnownKeys,
  chain: readonly Jws[],
  options: SuccessionOptions,
): Promise<Refusal | undefined> {
  if ('version' in sender) return refusalOf(await followKeySets(sender, chain, options))
  const revoked = listRevokedFingerprints(sender.keys)
  let earlier: VerifiedKeySet | undefined
  let refusal: Refusal | undefined
  for (const [index, link] of chain.entries()) {
    const set = readKeySet(link)
    if (isRefusal(set)) return set
    const { version, previous } = set
    if (earlier && (version !== earlier.set.version + 1 || previous !== earlier.digest))
      return refuse('invalid', `key set ${version} does not follow the one before it`)
    refusal = refusalOf(
      await followKeySets({ ...sender, version: version - 1, digest: previous, revoked }, chain.slice(index), options),
    )
    if (!refusal) return undefined
    earlier = { set, digest: digestKeySet(link) }
  }
  return refusal
}

function refusalOf(outcome: KeySetSuccession | SuccessionRefusal): Refusal | undefined {
  return 'refusal' in outcome ? outcome.refusal : undefined
}

type SuccessionStep = { readonly pinned: PinnedKeySet; readonly verified?: VerifiedKeySet }

async function followLink(
  pinned: PinnedKeySet,
  link: Jws,
  options: SuccessionOptions,
): Promise<SuccessionStep | SuccessionRefusal> {
  const set = readKeySet(link)
  if (isRefusal(set)) return refuseSuccession(set)
  const { version } = set
  if (set.site !== pinned.site || set.tenant_id !== pinned.tenant_id) {
    return refuseSuccession(refuse('signature_invalid', `key set ${version} belongs to another site or tenant`))
  }
  const digest = digestKeySet(link)
  if (version < pinned.version || (version === pinned.version && digest === pinned.digest)) return { pinned }
  if (version > pinned.version + 1) {
    const missing = `version ${pinned.version} is pinned, and key set ${version} does not follow it`
    return refuseSuccession(refuse('invalid', `${missing}: the versions in between are also needed`))
  }
  const { root_threshold: requiredCount } = pinned
  const at = new Date(Math.max(Date.parse(set.created), options.earliest ?? 0)).toISOString()
  if (!(await isSignedBy(link, pinned.keys, requiredCount, at, options))) {
    return refuseSuccession(
      refuse('signature_invalid', `key set ${version} lacks signatures of ${requiredCount} pinned root keys`),
    )
  }
  if (version === pinned.version || set.previous !== pinned.digest) {
    return {
      refusal: refuse('already_exists', `key set ${version} contradicts the pinned history`),
      forked: true,
    }
  }
  const fault = await checkKeySet(set, link, options, pinned.revoked)
  if (fault) return refuseSuccession(fault)
  if (pinned.created !== undefined && Date.parse(set.created) < Date.parse(pinned.created)) {
    return refuseSuccession(refuse('invalid', `key set ${version} is dated earlier than its predecessor`))
  }
  return { pinned: pinKeySet(set, digest, pinned.revoked), verified: { set, digest } }
}

/** Checks a set by itself, except for keys revoked by earlier sets; undefined when it is valid. */
export async function checkKeySet(
  set: KeySet,
  link: Jws,
  options: SuccessionOptions,
  revoked: readonly string[] = [],
): Promise<Refusal | undefined> {
  const fault = findKeySetFault(set)
  if (fault) return refuse('invalid', `key set ${set.version} cannot be used: ${fault}`)
  const { root: requiredCount } = set.thresholds
  const isSigned = await isSignedBy(link, markRevoked(set.keys, revoked), requiredCount, set.created, options)
  return isSigned
    ? undefined
    : refuse('signature_invalid', `key set ${set.version} lacks signatures of ${requiredCount} of its own root keys`)
}

/** The pinned form of a key set. `revoked`: keys revoked by earlier sets, or by people. */
export function pinKeySet(set: KeySet, digest: string, revoked: readonly string[] = []): PinnedKeySet {
  const { site, tenant_id, version, created, thresholds } = set
  const keys = markRevoked(set.keys, revoked)
  const all = [...new Set([...revoked, ...listRevokedFingerprints(keys)])]
  return { site, tenant_id, version, digest, created, root_threshold: thresholds.root, keys, revoked: all }
}

/**
 * Whether enough keys signed. Each key counts once, by its key material and not by its id; retired, revoked and
 * expired keys do not count.
 */
async function isSignedBy(
  link: Jws,
  keys: readonly PublicKey[],
  threshold: number,
  at: string,
  { signatures }: SuccessionOptions,
): Promise<boolean> {
  const able = selectUsableKeys(markRevoked(keys, listRevokedFingerprints(keys)), 'root', at)
  const verified = await signatures.verify('keyset', link, able)
  return typeof verified !== 'string' && new Set(verified.keys.map(({ fingerprint }) => fingerprint)).size >= threshold
}

function refuseSuccession(refusal: Refusal): SuccessionRefusal {
  return { refusal, forked: false }
}
