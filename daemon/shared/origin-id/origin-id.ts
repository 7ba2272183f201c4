// Ids of objects that sites share: each site makes its own in a part of the id space that no other site may use.
import { sha256 } from '../../kernel/encoding/canonical-json.ts'

/** The id of an object that this site originates: a prefix and 32 digits. `digits`: 24 at least, random or derived. */
export function originId(prefix: 'ses' | 'xchg', site: string, digits: string): string {
  return `${prefix}_${digitsOf(site)}${digits.slice(0, 24)}`
}

/**
 * Whether only this site may make the id. Ids derive from idempotency keys and matches, so a peer can predict them: without
 * a part of its own a site would find its next id taken by a message of a peer.
 */
export function isReservedFor(site: string, id: string): boolean {
  return id.slice(id.indexOf('_') + 1).startsWith(digitsOf(site))
}

function digitsOf(site: string): string {
  return sha256(site).slice(0, 8)
}
