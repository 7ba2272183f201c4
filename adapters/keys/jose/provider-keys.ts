// The keys of an identity provider: what of its JWKS can verify a token, and by which algorithms.
import { createPublicKey, hash, type KeyObject } from 'node:crypto'
import * as z from 'zod'
import type { ProviderAlgorithm } from '../../../daemon/kernel/settings/sso-settings.ts'

export type ProviderKey = {
  readonly kid: string
  /** SHA-256 of the key itself. */
  readonly fingerprint: string
  readonly algorithms: readonly ProviderAlgorithm[]
  readonly key: KeyObject
}

/** Algorithms that each kind of key can verify; RFC 7518 section 3.1, RFC 8037, and RFC 9864, whose name sites sign by. */
const algorithmsByKeyType: Readonly<Record<string, readonly ProviderAlgorithm[]>> = {
  RSA: ['RS256', 'PS256'],
  'EC P-256': ['ES256'],
  'EC P-384': ['ES384'],
  'OKP Ed25519': ['EdDSA', 'Ed25519'],
}

/** RFC 7518 section 3.3. */
const min_rsa_bits = 2_048

const jwkSet = z.object({ keys: z.array(z.unknown()).max(64) })

const jwkEntry = z.looseObject({
  kty: z.string(),
  kid: z.string().min(1).max(256),
  crv: z.string().optional(),
  alg: z.string().optional(),
  use: z.literal('sig').optional(),
  key_ops: z
    .array(z.string())
    .refine((ops) => ops.includes('verify'))
    .optional(),
  // A key that the world can sign with proves nothing.
  d: z.undefined().optional(),
})

/**
 * The usable keys of a JWKS; entries of other kinds, and all of a `kid` that occurs twice, are left out. Throws an
 * Error for a value that is not a JWKS.
 */
export function parseProviderKeys(jwks: unknown): ProviderKey[] {
  const given = jwkSet.safeParse(jwks)
  if (!given.success) throw new Error('the document is not a JWKS')
  const found = given.data.keys.map(importKey).filter((key) => key !== undefined)
  return found.filter(({ kid }) => found.filter((other) => other.kid === kid).length === 1)
}

function importKey(given: unknown): ProviderKey | undefined {
  const { success, data: jwk } = jwkEntry.safeParse(given)
  if (!success) return undefined
  const able = algorithmsByKeyType[jwk.crv === undefined ? jwk.kty : `${jwk.kty} ${jwk.crv}`] ?? []
  const algorithms = able.filter((algorithm) => jwk.alg === undefined || jwk.alg === algorithm)
  if (algorithms.length === 0) return undefined
  try {
    const key = createPublicKey({ key: jwk as never, format: 'jwk' })
    const { modulusLength = min_rsa_bits } = key.asymmetricKeyDetails ?? {}
    if (modulusLength < min_rsa_bits) return undefined
    const fingerprint = hash('sha256', key.export({ type: 'spki', format: 'der' }), 'base64url')
    return { kid: jwk.kid, fingerprint, algorithms, key }
  } catch {
    return undefined
  }
}
