// Replaces and ends keys that peers pin: by a new key set, in one step where enough root keys lie in the site.
import { readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import { generateKey, listKeys, requireOpens, revokeKey } from '../../../adapters/keys/jose/key-life.ts'
import { standing } from '../../kernel/key-set.ts'
import type { KeyAlgorithm, PublicKey } from '../../kernel/keys.ts'
import type { SiteFolder } from '../site-folder.ts'
import { record } from './deed.ts'
import { Objection } from './objection.ts'
import { current, isRootHere, renew, type SetTerms, shortestOverlap_s } from './site-key-sets.ts'
import type { Environment } from './site-profile.ts'

export type Rotating = {
  readonly algorithm?: KeyAlgorithm
  /** Epoch milliseconds. */
  readonly now: number
  readonly not_after?: string
  /** Seconds that the old message key goes on beside the new one; the shortest that is allowed unless said. */
  readonly overlap_s?: number | undefined
  /** Of the site's private keys, where they lie under one. */
  readonly passphrase?: string | undefined
}

export type Rotated = {
  readonly created: PublicKey
  /** As it stands now: a message key goes on until the end of the overlap. */
  readonly retired: PublicKey
  /** Version of the key set that says so; absent for a key that no peer pins, and while root keys are elsewhere. */
  readonly key_set?: number
}

/**
 * A key of use `message` or `root`. Where root keys are missing the new key is made and the old one goes on: the set that
 * retires it is to be drafted, signed and published. Throws `Objection` (3) for too short an overlap, and `Locked`.
 */
export async function rotateInSet(
  folder: SiteFolder,
  env: Environment,
  old: PublicKey,
  { overlap_s, ...terms }: Rotating,
): Promise<Rotated> {
  const shortest_s = await shortestOverlap_s(folder)
  if (old.use === 'message' && overlap_s !== undefined && overlap_s < shortest_s) {
    throw new Objection(
      3,
      `the overlap must be at least ${shortest_s / 3_600} hours, twice the time that messages may be under way`,
      'a key that others may have is not rotated but revoked: platform keys revoke',
    )
  }
  const isHere = isRootHere(folder, terms.now)
  const created = await successorOf(folder, old, terms)
  await record(folder, env, { action: 'site.key.rotate', target: old.kid, detail: { successor: created.kid } })
  if (!isHere) return { created, retired: old }
  const not_after = new Date(terms.now + (overlap_s ?? shortest_s) * 1_000).toISOString()
  const becomes =
    old.use === 'root' ? { status: 'retired' as const } : { not_after: earliest(old.not_after, not_after) }
  const set = await renewed(folder, env, { [old.kid]: becomes }, terms)
  const retired = listKeys(folder.keys).find(({ kid }) => kid === old.kid) ?? old
  return { created, retired, key_set: set.version }
}

/**
 * Revokes a key of use `message` or `root` at once, with `replace` after a new one was made in its place. The set that
 * tells the peers is published where enough root keys are here and it would leave keys to work with.
 */
export async function revokeInSet(
  folder: SiteFolder,
  env: Environment,
  key: PublicKey,
  { replace, ...terms }: Rotating & { readonly replace: boolean },
): Promise<{ revoked: PublicKey; created?: PublicKey; key_set?: number }> {
  const isHere = isRootHere(folder, terms.now)
  if (isHere && !replace) await requireOpens(folder.keys, terms.passphrase)
  const created = replace ? await successorOf(folder, key, terms) : undefined
  const made = created ? { created } : {}
  const others = listKeys(folder.keys).filter(
    ({ use, status, kid }) => use === key.use && status === 'active' && kid !== key.kid,
  )
  const needed = current(folder).set?.thresholds[key.use === 'root' ? 'root' : 'message'] ?? 1
  const end = async () => {
    const revoked = revokeKey(folder.keys, key.kid)
    await record(folder, env, { action: 'site.key.revoke', target: key.kid })
    return revoked
  }
  if (!isHere || others.length < needed) return { revoked: await end(), ...made }
  // A root key that goes signs that it goes; a message key ends before anything else is done.
  const before = key.use === 'message' ? await end() : undefined
  const set = await renewed(folder, env, { [key.kid]: { status: 'revoked' } }, terms)
  return { revoked: before ?? (await end()), ...made, key_set: set.version }
}

/** Each active message key signs each message, and an envelope of 64 KiB holds no more signatures of ML-DSA-87 safely. */
const most_signing = 8

/** Throws `Objection` (3) when no further key of this use may be active. `now` in epoch milliseconds. */
export function requireRoom(folder: Pick<SiteFolder, 'keys'>, use: PublicKey['use'], now: number): void {
  const signing = standing(listKeys(folder.keys), 'message', new Date(now).toISOString())
  if (use !== 'message' || signing.length < most_signing) return
  throw new Objection(
    3,
    `${most_signing} message keys sign already, and an envelope holds no more`,
    'wait until one has ended, or revoke one: platform keys list',
  )
}

async function successorOf(folder: SiteFolder, old: PublicKey, terms: Rotating): Promise<PublicKey> {
  requireRoom(folder, old.use, terms.now)
  await requireOpens(folder.keys, terms.passphrase)
  const isWrapped = readKeyFiles(folder.keys).some(
    ({ public_key, private_jwe }) => public_key.kid === old.kid && private_jwe !== undefined,
  )
  const { passphrase, ...rest } = { algorithm: old.algorithm, ...terms }
  return await generateKey(folder.keys, { ...rest, use: old.use, ...(isWrapped ? { passphrase } : {}) })
}

async function renewed(folder: SiteFolder, env: Environment, becomes: SetTerms['becomes'], terms: Rotating) {
  return await renew(folder, env, { becomes, thresholds: {}, now: terms.now }, () => terms.passphrase)
}

function earliest(a: string | undefined, b: string): string {
  return a !== undefined && Date.parse(a) < Date.parse(b) ? a : b
}
