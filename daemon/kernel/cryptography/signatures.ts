// The contract of signing and verifying; one adapter implements the cryptography.
import * as z from 'zod'
import { findKeyRecordFault } from './public-jwk.ts'

export const keyAlgorithm = z.enum(['Ed25519', 'ES384', 'ML-DSA-87'])
export type KeyAlgorithm = z.infer<typeof keyAlgorithm>

/**
 * A pinned public key. The algorithm to verify with comes from here, never from a header. A record whose algorithm or
 * fingerprint is not that of its key, or with a private member, is not a key.
 */
export const publicKey = z
  .strictObject({
    kid: z.string().min(1).max(128),
    algorithm: keyAlgorithm,
    /** RFC 7638 thumbprint (SHA-256, base64url): what people compare at enrolment. */
    fingerprint: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
    use: z.enum(['message', 'token', 'personal', 'root', 'authority']),
    status: z.enum(['active', 'retired', 'revoked']),
    created: z.iso.datetime(),
    not_after: z.iso.datetime().optional(),
    jwk: z.record(z.string(), z.unknown()),
  })
  .superRefine((record, context) => {
    const message = findKeyRecordFault(record)
    if (message !== undefined) context.addIssue({ code: 'custom', path: ['jwk'], message })
  })
export type PublicKey = z.infer<typeof publicKey>

/** JWS general JSON serialisation (RFC 7515 section 7.2.1). */
export const jws = z.strictObject({
  payload: z.string().max(65_536),
  signatures: z
    .array(z.strictObject({ protected: z.string().max(2_048), signature: z.string().max(8_192) }))
    .min(1)
    .max(16),
})
export type Jws = z.infer<typeof jws>

/** Signatures of the platform itself, by their purpose, and the uses of the keys that may make them. */
const platformSignatures = {
  statement: ['message'],
  contribution: ['personal'],
  'guidance-decision': ['personal'],
  checkpoint: ['message'],
  'audit-export': ['message'],
  keyset: ['root'],
  epoch: ['root'],
  manifest: ['message'],
  'gap-receipt': ['message'],
  release: ['personal'],
  backup: ['message'],
} as const satisfies Readonly<Record<string, readonly PublicKey['use'][]>>

/**
 * Purpose of a signature: the `typ` of the protected header, so that no signature can replace another. Besides those of
 * the platform, the types of documents that roles declare; see `DocumentTypes`.
 */
export type SignatureType = string

export function isPlatformSignature(type: SignatureType): type is keyof typeof platformSignatures {
  return Object.hasOwn(platformSignatures, type)
}

/** Which keys may sign what: a key that is found or lent for one thing is of no use for another. */
export function allowedUses(type: SignatureType): readonly PublicKey['use'][] {
  return isPlatformSignature(type) ? platformSignatures[type] : ['message']
}

export type VerifiedPayload = { payload: Uint8Array<ArrayBuffer>; keys: readonly PublicKey[] }
export type VerificationFailure = 'bad_signature' | 'unknown_key' | 'key_revoked'

/** `sign` uses the site's active message key; `verify` counts distinct pinned keys that are not revoked (a retired
 * one still verifies what it signed) and returns those that signed. */
export interface Signatures {
  sign(type: SignatureType, payload: Uint8Array): Promise<Jws>
  verify(
    type: SignatureType,
    envelope: Jws,
    pinned: readonly PublicKey[],
  ): Promise<VerifiedPayload | VerificationFailure>
  publicKeys(): readonly PublicKey[]
}
