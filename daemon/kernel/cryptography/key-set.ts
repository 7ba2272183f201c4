// The key set of a site: its public keys as one signed, numbered document, and the rules of succession.
import * as z from 'zod'
import { canonicalJson, sha384 } from '../encoding/canonical-json.ts'
import { parseExactJson } from '../encoding/parse-json.ts'
import { isRefusal, type Refusal, refuse } from '../error/errors.ts'
import { formatFieldErrors, parseWithSchema } from '../error/parsing.ts'
import { hex96, siteName } from '../messaging/statement.ts'
import { selectCountingKeys } from './counting-signers.ts'
import { type Jws, jws, type PublicKey, publicKey } from './signatures.ts'

/** The version before the first, of a site whose keys were pinned without a set. */
export const no_key_set = { version: 0, digest: '0'.repeat(96) } as const

const threshold = z.int().min(1).max(16)

/** Keys of use `message` and `root`, which peers pin. */
export const keySet = z
  .strictObject({
    v: z.literal(1),
    type: z.literal('platform.keyset'),
    site: siteName,
    tenant_id: z.string().min(1).max(128),
    version: z.int().min(1).max(99_999_999),
    previous: hex96.meta({ description: 'SHA-384 of the payload of the previous version; zeros for the first' }),
    created: z.iso.datetime(),
    thresholds: z.strictObject({ message: threshold, root: threshold }),
    keys: z
      .array(publicKey.safeExtend({ use: z.enum(['message', 'root']) }))
      .min(1)
      .max(64),
  })
  .refine(({ keys }) => areDistinct(keys.map(({ kid }) => kid)), 'must name each key once')
  .refine(({ keys }) => areDistinct(keys.map(({ fingerprint }) => fingerprint)), 'must hold each key once')
export type KeySet = z.infer<typeof keySet>

export const max_previous_sets = 256

/** Data of a message of kind `keys`: the newest set and its predecessors, oldest first. */
export const keysData = z.strictObject({ keyset: jws, before: z.array(jws).max(max_previous_sets).optional() })
export type KeysData = z.infer<typeof keysData>

/** The same data as a file that people carry. */
export const keySetFile = z.strictObject({
  v: z.literal(1),
  type: z.literal('platform.keyset-file'),
  sets: z.array(jws).min(1).max(max_previous_sets),
})

/**
 * Parses a key set without verifying it. Refuses `invalid`, with the first faults, for another payload and for one that is
 * not canonical JSON.
 */
export function readKeySet({ payload }: Pick<Jws, 'payload'>): KeySet | Refusal {
  const content = parseExactJson(Buffer.from(payload, 'base64url'), canonicalJson)
  if (content === undefined) return refuse('invalid', 'the signed content is not canonical JSON')
  const parsed = parseWithSchema(keySet, content)
  if (parsed.success) return parsed.data
  return refuse('invalid', `the signed content is not a key set: ${formatFieldErrors(parsed.errors)}`)
}

/** The same for a set that was read before; undefined for any other payload. */
export function parseKeySet(signed: Pick<Jws, 'payload'>): KeySet | undefined {
  const set = readKeySet(signed)
  return isRefusal(set) ? undefined : set
}

export function encodeKeySet(set: KeySet): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(canonicalJson(keySet.parse(set))))
}

export function digestKeySet({ payload }: Pick<Jws, 'payload'>): string {
  return sha384(Buffer.from(payload, 'base64url'))
}

/** The keys that may sign an object created at `at`: of this use, active, and not expired. */
export function selectUsableKeys(keys: readonly PublicKey[], use: PublicKey['use'], at: string): PublicKey[] {
  return selectCountingKeys(keys, at).filter((key) => key.use === use && key.status === 'active')
}

/** The keys; those with these fingerprints are marked as revoked. */
export function markRevoked<K extends PublicKey>(keys: readonly K[], revoked: readonly string[]): K[] {
  return keys.map((key) => (revoked.includes(key.fingerprint) ? { ...key, status: 'revoked' } : key))
}

/** Fingerprints of the revoked keys. */
export function listRevokedFingerprints(keys: readonly PublicKey[]): string[] {
  return keys.filter(({ status }) => status === 'revoked').map(({ fingerprint }) => fingerprint)
}

/** The fault that makes a key set unusable; undefined when it is usable. */
export function findKeySetFault({ keys, thresholds, created }: KeySet): string | undefined {
  for (const use of ['message', 'root'] as const) {
    const usable = selectUsableKeys(keys, use, created).length
    if (usable < thresholds[use]) return `the threshold requires ${thresholds[use]} ${use} keys, and ${usable} can sign`
  }
  return undefined
}

function areDistinct(names: readonly string[]): boolean {
  return new Set(names).size === names.length
}
