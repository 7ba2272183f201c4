// Public keys on their way between sites: a JWKS (RFC 7517) that any tool reads, and the way back into records.
import * as z from 'zod'
import {
  computeThumbprint,
  detectAlgorithm,
  findPrivateMember,
  parsePublicJwk,
} from '../../../daemon/kernel/cryptography/public-jwk.ts'
import { type PublicKey, publicKey } from '../../../daemon/kernel/cryptography/signatures.ts'
import { formatFieldErrors, parseWithSchema } from '../../../daemon/kernel/error/parsing.ts'
import { listKeys } from './key-lifecycle.ts'

export type Jwks = { keys: Record<string, unknown>[] }

/**
 * The site's public keys, of one use or of all. Revoked ones are left out: a reader that knows nothing of the
 * `platform_` members must not come to trust them. So are authorities, which sign certificates and nothing with a JWS.
 */
export function exportJwks(dir: string, use?: PublicKey['use']): Jwks {
  return buildJwks(listKeys(dir).filter((key) => use === undefined || key.use === use))
}

export function buildJwks(keys: readonly PublicKey[]): Jwks {
  return { keys: keys.filter(({ status, use }) => status !== 'revoked' && use !== 'authority').map(buildEntry) }
}

function buildEntry(key: PublicKey): Record<string, unknown> {
  return {
    ...parsePublicJwk(key.algorithm, key.jwk),
    kid: key.kid,
    alg: key.algorithm,
    use: 'sig',
    platform_use: key.use,
    platform_status: key.status,
    platform_fingerprint: key.fingerprint,
    platform_created: key.created,
    ...(key.not_after === undefined ? {} : { platform_not_after: key.not_after }),
  }
}

const jwksFile = z.object({
  keys: z
    .array(
      z.looseObject({
        kid: publicKey.shape.kid,
        alg: z.string(),
        platform_fingerprint: publicKey.shape.fingerprint.optional(),
        platform_use: publicKey.shape.use,
        platform_status: publicKey.shape.status,
        platform_created: publicKey.shape.created,
        platform_not_after: publicKey.shape.not_after,
      }),
    )
    .min(1)
    .max(64),
})

/**
 * The records of a JWKS that `exportJwks` made. Fingerprints are computed from the keys. Throws an Error that names the
 * entry for anything that is not a public key of a known algorithm, for a private one, and for a fingerprint that is not that of
 * its key.
 */
export function importJwks(given: unknown): PublicKey[] {
  const file = parseWithSchema(jwksFile, given)
  if (!file.success) throw new Error(`the document is not a JWKS of a site: ${formatFieldErrors(file.errors)}`)
  return file.data.keys.map(importEntry)
}

function importEntry(entry: z.infer<typeof jwksFile>['keys'][number]): PublicKey {
  const privateMember = findPrivateMember(entry)
  if (privateMember !== undefined)
    throw new Error(`${entry.kid} holds the private member "${privateMember}"; export public keys instead`)
  const algorithm = detectAlgorithm(entry)
  const jwk = algorithm && parsePublicJwk(algorithm, entry)
  if (!jwk) throw new Error(`${entry.kid} is not a key of a known algorithm`)
  if (entry.alg !== algorithm) throw new Error(`${entry.kid} is a key of ${algorithm}, and its "alg" is ${entry.alg}`)
  const fingerprint = computeThumbprint(jwk)
  const { platform_fingerprint: stated = fingerprint } = entry
  if (stated !== fingerprint)
    throw new Error(`${entry.kid} has the fingerprint ${fingerprint}, and the file states ${stated}`)
  return publicKey.parse({
    kid: entry.kid,
    algorithm,
    fingerprint,
    use: entry.platform_use,
    status: entry.platform_status,
    created: entry.platform_created,
    ...(entry.platform_not_after === undefined ? {} : { not_after: entry.platform_not_after }),
    jwk: { ...jwk },
  })
}
