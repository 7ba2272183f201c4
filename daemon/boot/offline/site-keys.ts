// The site's own keys for commands: made, listed, rotated, revoked, exported.
import { exportJwks, importJwks, type Jwks } from '../../../adapters/keys/jose/jwks.ts'
import { generateKey, listKeys, revokeKey, rotateKey } from '../../../adapters/keys/jose/key-life.ts'
import type { KeyAlgorithm, PublicKey } from '../../kernel/keys.ts'
import type { SiteFolder } from '../site-folder.ts'
import { Objection } from './objection.ts'

export type KeyTerms = {
  readonly algorithm?: KeyAlgorithm
  /** Epoch milliseconds. */
  readonly now: number
  readonly not_after?: string
}

export async function generate(folder: SiteFolder, use: PublicKey['use'], terms: KeyTerms): Promise<PublicKey> {
  return await generateKey(folder.keys, { use, ...terms })
}

/** Oldest first. */
export function list(folder: SiteFolder): PublicKey[] {
  return listKeys(folder.keys)
}

/** Throws `Objection` when there is no such key, or it is not active. */
export async function rotate(folder: SiteFolder, kid: string, terms: KeyTerms) {
  const { status } = find(folder, kid)
  if (status !== 'active') throw new Objection(3, `${kid} is ${status}; only an active key rotates`)
  return await rotateKey(folder.keys, kid, terms)
}

/** Ends a key for good. Throws `Objection` when there is no such key. */
export function revoke(folder: SiteFolder, kid: string): PublicKey {
  find(folder, kid)
  return revokeKey(folder.keys, kid)
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

function find(folder: SiteFolder, kid: string): PublicKey {
  const found = listKeys(folder.keys).find((key) => key.kid === kid)
  if (!found) throw new Objection(1, `there is no key ${kid}`, '`platform keys list` shows those there are')
  return found
}
