// The site's own keys for commands: made, listed, rotated, revoked, exported.
import { exportJwks, importJwks, type Jwks } from '../../../adapters/keys/jose/jwks.ts'
import { readKeyFiles } from '../../../adapters/keys/jose/key-files.ts'
import {
  generateKey,
  hasWrappedKeys,
  listKeys,
  revokeKey,
  rotateKey,
  unwrapKeys,
  wrapKeys,
} from '../../../adapters/keys/jose/key-life.ts'
import type { KeyAlgorithm, PublicKey } from '../../kernel/keys.ts'
import { mendList, relist } from '../listed-keys.ts'
import type { SiteFolder } from '../site-folder.ts'
import { record } from './deed.ts'
import { type Rotated, type Rotating, requireRoom, revokeInSet, rotateInSet } from './key-rotation.ts'
import { Objection } from './objection.ts'
import { generateForRole, listOfRoles, type RoleKey, requireRole, revokeForRole, rotateForRole } from './role-keys.ts'
import type { Environment } from './site-profile.ts'

export type KeyTerms = {
  readonly algorithm?: KeyAlgorithm
  /** Epoch milliseconds. */
  readonly now: number
  readonly not_after?: string
  /** What the private half is to lie under; in the open unless said. */
  readonly passphrase?: string | undefined
}

/** For the site; with `role` and use `token` the key with which that role tells the others who it is. */
export async function generate(
  folder: SiteFolder,
  env: Environment,
  use: PublicKey['use'],
  terms: KeyTerms,
  role?: string,
): Promise<PublicKey> {
  requireRoom(folder, use, terms.now)
  const { passphrase: _own, ...ofRole } = terms
  const key = role ? await generateForRole(folder, role, ofRole) : await generateKey(folder.keys, { use, ...terms })
  await mendList(folder)
  const detail = { fingerprint: key.fingerprint, ...(role ? { role } : {}) }
  await record(folder, env, { action: 'site.key.generate', target: key.kid, detail })
  return key
}

/** Makes a key in a folder that belongs to no site, as on a person's own medium: there is nobody to tell of it. */
export async function generateIn(dir: string, use: PublicKey['use'], terms: KeyTerms): Promise<PublicKey> {
  return await generateKey(dir, { use, ...terms })
}

/** A folder of keys, a site's or a medium's. */
export type KeyPlace = Pick<SiteFolder, 'keys'>

/** A key of a role says of which; all others are the site's, or the medium's. */
export type ListedKey = PublicKey & Partial<Pick<RoleKey, 'role'>>

/** Oldest first; those of a site's roles after the site's own. */
export function list(folder: KeyPlace | SiteFolder): ListedKey[] {
  return [...listKeys(folder.keys), ...('identity' in folder ? listOfRoles(folder) : [])]
}

/** Throws `Objection` when there is no such key, it is not active, or the overlap is too short; and `Locked`. */
export async function rotate(folder: SiteFolder, env: Environment, kid: string, terms: Rotating): Promise<Rotated> {
  const found = find(folder, kid)
  const { status, role, use } = found
  if (status !== 'active') throw new Objection(3, `${kid} is ${status}; only an active key rotates`)
  if (use === 'message' || use === 'root') return await rotateInSet(folder, env, bare(found), terms)
  if (use === 'authority') throw new Objection(2, 'an authority is replaced by: platform keys ca init --replace')
  const { overlap_s: _overlap, passphrase, ...rest } = terms
  const done = role
    ? await rotateForRole(folder, role, kid, rest)
    : await rotateKey(folder.keys, kid, { ...rest, ...(isWrapped(folder, kid) ? { passphrase } : {}) })
  await mendList(folder)
  await record(folder, env, { action: 'site.key.rotate', target: kid, detail: { successor: done.created.kid } })
  return done
}

const makers: Readonly<Partial<Record<PublicKey['use'], string>>> = { authority: 'ca init' }

export type Revoked = { readonly revoked: PublicKey; readonly created?: PublicKey; readonly key_set?: number }

/**
 * Ends a key for good; with `replace` a new one is made in the place of a key that peers pin. Throws `Objection` when there
 * is no such key, and `Locked`.
 */
export async function revoke(
  folder: SiteFolder,
  env: Environment,
  kid: string,
  terms: Rotating & { readonly replace: boolean },
): Promise<Revoked> {
  const found = find(folder, kid)
  const { role, use } = found
  if (use === 'message' || use === 'root') return await revokeInSet(folder, env, bare(found), terms)
  if (terms.replace) throw new Objection(2, `a ${use} key is replaced by: platform keys ${makers[use] ?? 'generate'}`)
  if (role) requireRole(folder, role)
  // The list first: from then on no process accepts what the key signs, whatever becomes of the rest.
  await relist(folder, (listed) => listed.map((key) => (key.kid === kid ? { ...key, status: 'revoked' } : key)))
  const revoked = role ? revokeForRole(folder, role, kid) : revokeKey(folder.keys, kid)
  await record(folder, env, { action: 'site.key.revoke', target: kid })
  return { revoked }
}

function bare({ role: _role, ...key }: ListedKey): PublicKey {
  return key
}

function isWrapped(folder: KeyPlace, kid: string): boolean {
  return readKeyFiles(folder.keys).some((key) => key.public_key.kid === kid && key.private_jwe !== undefined)
}

/** Whether a key of the folder, or one of this use, lies under a passphrase. */
export function isLocked(folder: KeyPlace, use?: PublicKey['use']): boolean {
  return hasWrappedKeys(folder.keys, use)
}

/** Puts the keys of the folder, or those of one use, under the passphrase; the kids of those that were not. */
export async function wrap(
  place: KeyPlace | SiteFolder,
  env: Environment,
  passphrase: string,
  use: PublicKey['use'] | undefined,
): Promise<string[]> {
  const kids = await wrapKeys(place.keys, passphrase, use)
  if ('profile' in place && kids.length > 0) await recordKeys(place, env, 'site.key.wrap', kids)
  return kids
}

/** The way back. Throws `Locked` before anything is changed. */
export async function unwrap(place: KeyPlace | SiteFolder, env: Environment, passphrase: string): Promise<string[]> {
  const kids = await unwrapKeys(place.keys, passphrase)
  if ('profile' in place && kids.length > 0) await recordKeys(place, env, 'site.key.unwrap', kids)
  return kids
}

async function recordKeys(folder: SiteFolder, env: Environment, action: string, kids: readonly string[]) {
  await record(folder, env, { action, target: kids.length === 1 ? String(kids[0]) : 'keys', detail: { kids } })
}

export function jwks(folder: KeyPlace, use: PublicKey['use'] | undefined): Jwks {
  return exportJwks(folder.keys, use)
}

/** The keys of a JWKS that a site exported. Throws `Objection` for anything else. */
export function keysIn(text: string): PublicKey[] {
  try {
    return importJwks(JSON.parse(text))
  } catch (error) {
    const why = error instanceof SyntaxError ? 'it is not JSON' : error instanceof Error ? error.message : String(error)
    throw new Objection(2, `the keys cannot be read: ${why}`, '`platform keys export` at the other site makes the file')
  }
}

/** Throws `Objection` (1) when there is no such key. */
export function find(folder: SiteFolder, kid: string): ListedKey {
  const found = list(folder).find((key) => key.kid === kid)
  if (!found) throw new Objection(1, `there is no key ${kid}`, '`platform keys list` shows those there are')
  return found
}
