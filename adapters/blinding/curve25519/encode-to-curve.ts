// Hashes values to points of Curve25519 by the library's field and map, and one inversion for many of them.
import { hash } from 'node:crypto'
import { hash_to_field } from '@noble/curves/abstract/hash-to-curve.js'
import { FpInvertBatch } from '@noble/curves/abstract/modular.js'
import { _map_to_curve_elligator2_curve25519, ed25519 } from '@noble/curves/ed25519.js'

const field = ed25519.Point.Fp

/** SHA-512 of the platform, eight times as fast as the library's own. */
const sha512 = Object.assign((data: Uint8Array) => hash('sha512', data, 'buffer'), {
  outputLen: 64,
  blockLen: 128,
  canXOF: false,
  create: () => {
    throw new Error('only whole messages are hashed')
  },
})

/**
 * u-coordinates, 32 bytes each, by RFC 9380 section 6.7.1, suite curve25519_XMD:SHA-512_ELL2_NU_ up to the clearing of the
 * cofactor, which X25519 does by its scalars. Never a point of the twist: blinding would not hide that.
 * `tag` is the suite's domain separation tag.
 */
export function encodeToCurve(tag: string, values: readonly string[]): Uint8Array {
  const options = { DST: tag, p: field.ORDER, m: 1, k: 128, expand: 'xmd', hash: sha512 } as const
  const mapped = values.map((value) => {
    const [element] = hash_to_field(Buffer.from(value), 1, options)
    return _map_to_curve_elligator2_curve25519(element?.[0] ?? 0n)
  })
  const inverses = FpInvertBatch(
    field,
    mapped.map(({ xMd }) => xMd),
  )
  const points = new Uint8Array(values.length * 32)
  for (const [at, { xMn }] of mapped.entries()) {
    points.set(field.toBytes(field.mul(xMn, inverses[at] ?? 0n)), at * 32)
  }
  return points
}
