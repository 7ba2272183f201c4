// The one form of a public key: exact members, exact lengths, one spelling, so that one key has one fingerprint.
import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { KeyAlgorithm, PublicKey } from './signatures.ts'

/**
 * Whether the text is the only spelling of its bytes: base64url without padding and with zero spare bits. Without
 * this, one Ed25519 key has four spellings, and so four thumbprints.
 */
export function isCanonicalBase64url(text: string): boolean {
  return Buffer.from(text, 'base64url').toString('base64url') === text
}

const base64urlBytes = (length: number) =>
  z.string().refine((text) => isCanonicalBase64url(text) && Buffer.from(text, 'base64url').length === length)

/** RFC 8037, RFC 7518 section 6.2, and ML-DSA for JOSE (kty AKP); lengths from RFC 8032, P-384 and FIPS 204. */
const jwkSchemas = {
  Ed25519: z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: base64urlBytes(32) }),
  ES384: z.object({ kty: z.literal('EC'), crv: z.literal('P-384'), x: base64urlBytes(48), y: base64urlBytes(48) }),
  'ML-DSA-87': z.object({ kty: z.literal('AKP'), alg: z.literal('ML-DSA-87'), pub: base64urlBytes(2592) }),
} as const satisfies Record<KeyAlgorithm, z.ZodType>

export type PublicJwk = z.infer<(typeof jwkSchemas)[KeyAlgorithm]>

/** Private members of a JWK (RFC 7518 sections 6.2.2, 6.3.2 and 6.4.1; RFC 8037; ML-DSA for JOSE). */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv', 'seed'] as const

/** The first private member that the JWK holds; undefined for a public key. */
export function findPrivateMember(jwk: Readonly<Record<string, unknown>>): string | undefined {
  return privateMembers.find((member) => member in jwk)
}

/** The public members alone (a private one is dropped); undefined when it is not a key of that algorithm. */
export function parsePublicJwk(algorithm: KeyAlgorithm, jwk: unknown): PublicJwk | undefined {
  return jwkSchemas[algorithm].safeParse(jwk).data
}

/** The algorithm whose key this is. A JWK of another kind has none. */
export function detectAlgorithm(jwk: unknown): KeyAlgorithm | undefined {
  return (Object.keys(jwkSchemas) as KeyAlgorithm[]).find((algorithm) => parsePublicJwk(algorithm, jwk) !== undefined)
}

/** RFC 7638 thumbprint: SHA-256 over the required members in lexicographic order, base64url. */
export function computeThumbprint(jwk: PublicJwk): string {
  const sorted = Object.fromEntries(Object.entries(jwk).sort(([a], [b]) => (a < b ? -1 : 1)))
  return createHash('sha256').update(JSON.stringify(sorted)).digest('base64url')
}

/**
 * The fault of a key record; undefined where its JWK is exactly a public key of its algorithm, and its fingerprint that of
 * the key. Every record from outside is held to this, before it is shown, compared, pinned or used.
 */
export function findKeyRecordFault({
  algorithm,
  fingerprint,
  jwk,
}: Pick<PublicKey, 'algorithm' | 'fingerprint' | 'jwk'>): string | undefined {
  const privateMember = findPrivateMember(jwk)
  if (privateMember !== undefined) return `must be a public key, and holds the private member "${privateMember}"`
  const material = parsePublicJwk(algorithm, jwk)
  if (!material || Object.keys(jwk).length !== Object.keys(material).length)
    return `must be exactly a public key of the algorithm ${algorithm}`
  const computed = computeThumbprint(material)
  return computed === fingerprint ? undefined : `must have the fingerprint of the key, which is ${computed}`
}

/**
 * The key material of a pinned record. Undefined when the record's fingerprint is not that of its key: people
 * confirmed the fingerprint, so only the key behind it was ever enrolled.
 */
export function readKeyMaterial(record: PublicKey): PublicJwk | undefined {
  const known = cachedMaterials.get(record)
  if (known) return known
  const jwk = parsePublicJwk(record.algorithm, record.jwk)
  if (!jwk || computeThumbprint(jwk) !== record.fingerprint) return undefined
  cachedMaterials.set(record, jwk)
  return jwk
}

/** Of records that were read once and verify many messages; nobody changes a record. */
const cachedMaterials = new WeakMap<PublicKey, PublicJwk>()
