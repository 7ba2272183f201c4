// Keys of the vectors: derived from names, so that the vectors can be made again. Anybody can derive them: they protect nothing.
import { createECDH, createHash, createPrivateKey } from 'node:crypto'
import type { StoredKey } from '../../adapters/keys/jose/key-files.ts'
import { computeThumbprint, detectAlgorithm, parsePublicJwk } from '../../daemon/kernel/cryptography/public-jwk.ts'
import type { KeyAlgorithm, PublicKey } from '../../daemon/kernel/cryptography/signatures.ts'

type FixedKey = Pick<PublicKey, 'use' | 'created'> & Partial<Pick<PublicKey, 'status' | 'not_after'>>

/** The key of this name and algorithm; the same whenever it is derived. */
export function deriveKey(name: string, algorithm: KeyAlgorithm, { use, ...more }: FixedKey): StoredKey {
  const private_jwk = privateJwks[algorithm](`platform vectors: ${name}, ${algorithm}, ${use}`)
  const jwk = parsePublicJwk(algorithm, private_jwk)
  if (!jwk || detectAlgorithm(private_jwk) !== algorithm) throw new Error(`no ${algorithm} key was derived`)
  const fingerprint = computeThumbprint(jwk)
  const kid = `${use}-${fingerprint.slice(0, 16)}`
  return { public_key: { kid, algorithm, fingerprint, use, status: 'active', ...more, jwk: { ...jwk } }, private_jwk }
}

const privateJwks: Readonly<Record<KeyAlgorithm, (seed: string) => Record<string, unknown>>> = {
  Ed25519: (seed) => jwkOfPkcs8('302e020100300506032b657004220420', seed),
  'ML-DSA-87': (seed) => ({
    ...jwkOfPkcs8('3034020100300b0609608648016503040313042280' + '20', seed),
    alg: 'ML-DSA-87',
  }),
  ES384: (seed) => {
    const curve = createECDH('secp384r1')
    curve.setPrivateKey(createHash('sha384').update(seed).digest())
    const [point, d] = [curve.getPublicKey(), curve.getPrivateKey()]
    const encode = (bytes: Buffer) => bytes.toString('base64url')
    return {
      ...{ kty: 'EC', crv: 'P-384', d: encode(d) },
      ...{ x: encode(point.subarray(1, 49)), y: encode(point.subarray(49)) },
    }
  },
}

/** A PKCS #8 structure (RFC 8410; RFC 9881 with the seed alone) is its head and 32 bytes. */
function jwkOfPkcs8(head: string, seed: string): Record<string, unknown> {
  const bytes = createHash('sha256').update(seed).digest()
  const key = createPrivateKey({ key: Buffer.concat([Buffer.from(head, 'hex'), bytes]), format: 'der', type: 'pkcs8' })
  return { ...key.export({ format: 'jwk' }) }
}
