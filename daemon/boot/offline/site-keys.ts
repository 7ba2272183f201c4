// The site's own keys for commands: made, listed, rotated, revoked, exported.
import { exportJwks, importJwks, type Jwks } from '../../../adapters/keys/jose/jwks.ts'
import { generateKey, listKeys, revokeKey, rotateKey } from '../../../adapters/keys/jose/key-life.ts'
import type { KeyAlgorithm, PublicKey } from '../../kernel/keys.ts'
import type { SiteFolder } from '../site-folder.ts'
import { record } from './deed.ts'
import { Objection } from './objection.ts'
import type { Environment } from './site-profile.ts'

export type KeyTerms = {
  readonly algorithm?: KeyAlgorithm
  /** Epoch milliseconds. */
  readonly now: number
  readonly not_after?: string
}

export async function generate(
  folder: SiteFolder,
  env: Environment,
  use: PublicKey['use'],
  terms: KeyTerms,
): Promise<PublicKey> {
  const key = await generateKey(folder.keys, { use, ...terms })
  await record(folder, env, { action: 'site.key.generate', target: key.kid, detail: { fingerprint: key.fingerprint } })
  return key
}

/** Oldest first. */
export function list(folder: SiteFolder): PublicKey[] {
  return listKeys(folder.keys)
}

/** Throws `Objection` when there is no such key, or it is not active. */
export async function rotate(folder: SiteFolder, env: Environment, kid: string, terms: KeyTerms) {
  const { status } = find(folder, kid)
  if (status !== 'active') throw new Objection(3, `${kid} is ${status}; only an active key rotates`)
  const done = await rotateKey(folder.keys, kid, terms)
  await record(folder, env, { action: 'site.key.rotate', target: kid, detail: { successor: done.created.kid } })
  return done
}

/** Ends a key for good. Throws `Objection` when there is no such key. */
export async function revoke(folder: SiteFolder, env: Environment, kid: string): Promise<PublicKey> {
  const revoked = revokeKey(folder.keys, find(folder, kid).kid)
  await record(folder, env, { action: 'site.key.revoke', target: kid })
  return revoked
}

export function jwks(folder: SiteFolder, use: PublicKey['use'] | undefined): Jwks {
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
export function find(folder: SiteFolder, kid: string): PublicKey {
  const found = listKeys(folder.keys).find((key) => key.kid === kid)
  if (!found) throw new Objection(1, `there is no key ${kid}`, '`platform keys list` shows those there are')
  return found
}
