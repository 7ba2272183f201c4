// A site's public keys as one signed, numbered document, and how its versions follow each other.

import * as z from 'zod'
import { canonicalJson, sha384 } from '../encoding/canonical-json.ts'
import { parseExactJson } from '../encoding/parse-json.ts'
import { hex96, siteName } from '../messaging/statement.ts'
import { type Jws, jws, type PublicKey, publicKey } from './signatures.ts'

/** The version before the first, of a site whose keys were pinned without a set. */
export const no_key_set = { version: 0, digest: '0'.repeat(96) } as const

const threshold = z.int().min(1).max(16)

/** Keys of use `message` and `root`: what peers pin. */
export const keySet = z
  .strictObject({
    v: z.literal(1),
    type: z.literal('platform.keyset'),
    site: siteName,
    tenant_id: z.string().min(1).max(128),
    version: z.int().min(1).max(99_999_999),
    previous: hex96.meta({ description: 'SHA-384 of the payload of the version before; zeros for the first' }),
    created: z.iso.datetime(),
    thresholds: z.strictObject({ message: threshold, root: threshold }),
    keys: z
      .array(publicKey.extend({ use: z.enum(['message', 'root']) }))
      .min(1)
      .max(64),
  })
  .refine(({ keys }) => areDistinct(keys.map(({ kid }) => kid)), 'must name each key once')
  .refine(({ keys }) => areDistinct(keys.map(({ fingerprint }) => fingerprint)), 'must hold each key once')
export type KeySet = z.infer<typeof keySet>

export const max_previous_sets = 256

/** Data of a message of kind `keys`: the newest set, and those before it, oldest first. */
export const keysData = z.strictObject({ keyset: jws, before: z.array(jws).max(max_previous_sets).optional() })
export type KeysData = z.infer<typeof keysData>

/** The same as a file, for people to carry. */
export const keySetFile = z.strictObject({
  v: z.literal(1),
  type: z.literal('platform.keyset-file'),
  sets: z.array(jws).min(1).max(max_previous_sets),
})

/** Parses a key set without verifying it; undefined for another payload, and for one that is not canonical JSON. */
export function parseKeySet({ payload }: Pick<Jws, 'payload'>): KeySet | undefined {
  return keySet.safeParse(parseExactJson(Buffer.from(payload, 'base64url'), canonicalJson)).data
}

export function encodeKeySet(set: KeySet): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(canonicalJson(keySet.parse(set))))
}

export function digestKeySet({ payload }: Pick<Jws, 'payload'>): string {
  return sha384(Buffer.from(payload, 'base64url'))
}

/** The keys of these that may sign something made at this time: of this use, active, not past their end. */
export function selectUsableKeys(keys: readonly PublicKey[], use: PublicKey['use'], at: string): PublicKey[] {
  return keys.filter(
    (key) =>
      key.use === use &&
      key.status === 'active' &&
      (key.not_after === undefined || Date.parse(at) <= Date.parse(key.not_after)),
  )
}

/** The keys, with those of these fingerprints revoked. */
export function markRevoked<K extends PublicKey>(keys: readonly K[], revoked: readonly string[]): K[] {
  return keys.map((key) => (revoked.includes(key.fingerprint) ? { ...key, status: 'revoked' } : key))
}

/** Fingerprints. */
export function listRevokedFingerprints(keys: readonly PublicKey[]): string[] {
  return keys.filter(({ status }) => status === 'revoked').map(({ fingerprint }) => fingerprint)
}

/** Why nobody could work with this set; undefined when all can. */
export function findKeySetFault({ keys, thresholds, created }: KeySet): string | undefined {
  for (const use of ['message', 'root'] as const) {
    const found = selectUsableKeys(keys, use, created).length
    if (found < thresholds[use]) return `${thresholds[use]} ${use} keys must sign, and ${found} can`
  }
  return undefined
}

function areDistinct(names: readonly string[]): boolean {
  return new Set(names).size === names.length
}
