// The site's key sets for commands: drafted, published, and renewed in one step if the root keys are in the site.

import { hasPrivateHalf, readKeyFiles, writeKeyFile } from '../../../adapters/keys/jose/key-files.ts'
import { listKeys } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { readKeySets, writeKeySet } from '../../../adapters/keys/jose/key-set-files.ts'
import { verifyJws } from '../../../adapters/keys/jose/signatures.ts'
import { peerFiles } from '../../../adapters/peers/files/peer-files.ts'
import { withIdentityLock } from '../../boot/identity/token-key-list.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import {
  digestKeySet,
  type KeySet,
  no_key_set,
  parseKeySet,
  selectUsableKeys,
} from '../../kernel/cryptography/key-set.ts'
import type { Jws, PublicKey } from '../../kernel/cryptography/signatures.ts'
import { checkKeySet, followKeySets, pinKeySet } from '../../shared/key-set/key-succession.ts'
import { recordOperatorAction } from '../audit/operator-action.ts'
import { requireDataFolder } from '../audit/require-data-folder.ts'
import { day_ms } from '../doctor/finding.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import {
  buildKeySetDraft,
  type KeySetDraft,
  type KeySetDraftInput,
  readDraftedSet,
  toSignedSet,
} from './key-set-draft.ts'
import { signKeySetDraft } from './key-set-signing.ts'

export type SiteKeySetOptions = Pick<KeySetDraftInput, 'thresholds' | 'key_changes' | 'now'> & {
  /** Public root keys that are not in the site. */
  readonly external_roots?: readonly PublicKey[]
}

/** The current set with its digest; undefined for a site whose peers have pinned single keys. */
export function readCurrentKeySet(folder: Pick<SiteFolder, 'keys'>): { sets: Jws[]; set: KeySet | undefined } {
  const sets = readKeySets(folder.keys)
  const last = sets.at(-1)
  return { sets, set: last && parseKeySet(last) }
}

export async function draftSiteKeySet(
  folder: SiteFolder,
  env: EnvironmentVariables,
  { external_roots = [], ...terms }: SiteKeySetOptions,
): Promise<KeySetDraft> {
  const { name: site, tenant_id } = readSiteSettings(folder, env).platform
  const { sets, set } = readCurrentKeySet(folder)
  const retention_ms = 2 * (await readTransit_ms(folder))
  const externalRoots = [...(set?.keys ?? []).filter(({ use }) => use === 'root'), ...external_roots]
  const keys = new Map([...externalRoots, ...listKeys(folder.keys)].map((key) => [key.fingerprint, key]))
  return buildKeySetDraft({ ...terms, site, tenant_id, sets, keys: [...keys.values()], retention_ms })
}

/** Longest transit time of a message: the freshness limit of the slowest peer; a week without peers. */
async function readTransit_ms(folder: SiteFolder): Promise<number> {
  const peers = await peerFiles(folder.peers).list()
  return Math.max(...peers.map(({ not_after_days }) => not_after_days), peers.length > 0 ? 1 : 7) * day_ms
}

/** Shortest time in seconds for which an old key must go on beside a new one: twice the transit time. */
export async function readShortestOverlap_s(folder: SiteFolder): Promise<number> {
  return (2 * (await readTransit_ms(folder))) / 1_000
}

/**
 * Publishes a signed draft; the running site then sends it to its peers. The site's own key files are updated to
 * match. Throws `OfflineCommandError` for a set that is not a successor, lacks signatures, or ends a key too early.
 */
export async function publishSiteKeySet(
  folder: SiteFolder,
  env: EnvironmentVariables,
  draft: KeySetDraft,
  now: number,
): Promise<KeySet> {
  requireDataFolder(folder)
  return await withIdentityLock(folder, async () => {
    const { sets, set: before } = readCurrentKeySet(folder)
    const set = readDraftedSet(draft)
    const signed = toSignedSet(draft)
    if (!set || !signed)
      throw new OfflineCommandError(3, 'the key set is not signed', '`platform keys set sign FILE` signs it')
    requireOwnKeys(folder, env, set)
    await requireSuccession(sets.at(-1), set, signed)
    await requireOverlap(folder, before, set, now)
    applySetToKeyFiles(folder, set)
    writeKeySet(folder.keys, set.version, signed)
    const detail = { version: set.version, digest: digestKeySet(signed), thresholds: set.thresholds }
    await recordOperatorAction(folder, env, { action: 'site.keyset.publish', target: set.site, detail })
    return set
  })
}

/** Requires each listed key to be in this site, since peers trust the holder of any listed key. */
function requireOwnKeys(folder: SiteFolder, env: EnvironmentVariables, set: KeySet): void {
  const { name, tenant_id } = readSiteSettings(folder, env).platform
  if (set.site !== name || set.tenant_id !== tenant_id)
    throw new OfflineCommandError(3, 'the key set belongs to another site')
  const siteKeys = readKeyFiles(folder.keys)
  const missingKey = selectUsableKeys(set.keys, 'message', set.created).find(
    ({ fingerprint }) => !siteKeys.some((key) => key.public_key.fingerprint === fingerprint && hasPrivateHalf(key)),
  )
  if (missingKey) throw new OfflineCommandError(3, `the message key ${missingKey.kid} of the set is not in this site`)
  const revoked = siteKeys.find(({ public_key: { status, fingerprint } }) =>
    set.keys.some((key) => key.fingerprint === fingerprint && status === 'revoked' && key.status !== 'revoked'),
  )
  if (revoked)
    throw new OfflineCommandError(3, `${revoked.public_key.kid} was revoked after the draft was made; make a new draft`)
}

async function requireSuccession(last: Jws | undefined, set: KeySet, signed: Jws): Promise<void> {
  const verification = { signatures: { verify: verifyJws } }
  const before = last && parseKeySet(last)
  if (last && before) {
    const succession = await followKeySets(pinKeySet(before, digestKeySet(last)), [signed], verification)
    if ('refusal' in succession) throw new OfflineCommandError(3, succession.refusal.message)
    if (succession.sets.length === 0) throw new OfflineCommandError(3, `version ${before.version} is already published`)
    return
  }
  const isFirst = set.version === 1 && set.previous === no_key_set.digest
  if (!isFirst) throw new OfflineCommandError(3, 'the earlier key sets are missing; restore them from a backup')
  const fault = await checkKeySet(set, signed, verification)
  if (fault) throw new OfflineCommandError(3, fault.message)
}

/** Requires an overlap of two transit times: one for messages of the old key, one until the new key reaches the peers. */
async function requireOverlap(folder: SiteFolder, before: KeySet | undefined, set: KeySet, now: number): Promise<void> {
  const earliest = now + (await readShortestOverlap_s(folder)) * 1_000
  const oldKeys = before?.keys ?? listKeys(folder.keys)
  for (const key of selectUsableKeys(oldKeys, 'message', new Date(now).toISOString())) {
    const successor = set.keys.find(({ fingerprint }) => fingerprint === key.fingerprint)
    const isUnchanged =
      before !== undefined && successor?.not_after === key.not_after && successor?.status === key.status
    if (isUnchanged || successor?.status === 'revoked') continue
    const end_ms =
      successor?.status !== 'active'
        ? now
        : successor.not_after === undefined
          ? undefined
          : Date.parse(successor.not_after)
    if (end_ms !== undefined && end_ms + tolerance_ms < earliest) {
      const earliestText = new Date(earliest).toISOString()
      throw new OfflineCommandError(
        3,
        `${key.kid} would end before ${earliestText}, so messages in transit would be refused`,
        'make a new draft with a longer --overlap; revoke a key that others may have instead',
      )
    }
  }
}

/** Time between the draft and its publication in one command. */
const tolerance_ms = 60_000

function applySetToKeyFiles(folder: SiteFolder, set: KeySet): void {
  for (const stored of readKeyFiles(folder.keys)) {
    const { status, not_after } = deriveKeyStatus(stored.public_key, set)
    if (status === stored.public_key.status && not_after === stored.public_key.not_after) continue
    const public_key: PublicKey = { ...stored.public_key, status, ...(not_after === undefined ? {} : { not_after }) }
    writeKeyFile(folder.keys, status === 'revoked' ? { public_key } : { ...stored, public_key })
  }
}

/** A key that the set omits no longer signs, unless it was made after the draft. */
function deriveKeyStatus(key: PublicKey, set: KeySet): Pick<PublicKey, 'status' | 'not_after'> {
  const listed = set.keys.find(({ fingerprint }) => fingerprint === key.fingerprint)
  if (listed) return listed
  const isOmitted =
    (key.use === 'message' || key.use === 'root') && key.status === 'active' && key.created < set.created
  return isOmitted ? { ...key, status: 'retired' } : key
}

/**
 * Whether enough root keys are in the site to sign a successor of the current set; one for the first set. `now` in
 * epoch milliseconds.
 */
export function hasRootQuorum(folder: Pick<SiteFolder, 'keys'>, now: number): boolean {
  const { set } = readCurrentKeySet(folder)
  const privateKeys = readKeyFiles(folder.keys).filter(hasPrivateHalf)
  const keys = privateKeys.map(({ public_key }) => public_key)
  const at = new Date(now).toISOString()
  if (!set) return selectUsableKeys(keys, 'root', at).length > 0
  // Uses the states in the set: an interrupted publication has already changed the files.
  const usableRoots = selectUsableKeys(set.keys, 'root', at).filter((root) =>
    keys.some(({ fingerprint }) => fingerprint === root.fingerprint),
  )
  return usableRoots.length >= set.thresholds.root
}

export type PassphraseSource = () => string | undefined

/**
 * Drafts, signs and publishes in one step. Throws `OfflineCommandError` as each of them does; then nothing was
 * published.
 */
export async function renewSiteKeySet(
  folder: SiteFolder,
  env: EnvironmentVariables,
  terms: SiteKeySetOptions,
  passphrase: PassphraseSource,
): Promise<KeySet> {
  const draft = await draftSiteKeySet(folder, env, terms)
  // A user with write access here may publish, so an earlier signature here that was never published is irrelevant.
  const { draft: signed } = await signKeySetDraft(folder.keys, { draft, passphrase, instead: true })
  return await publishSiteKeySet(folder, env, signed, terms.now)
}
