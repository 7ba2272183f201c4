// Checks hashing to the curve against the published vectors, and multiplication against input of a hostile peer.
import { expect, test } from 'vitest'
import { encodeToCurve } from './encode-to-curve.ts'
import { multiplyPoints } from './multiply.ts'

/** RFC 9380, appendix J.4.2: the message, and the u-coordinate of the point before its cofactor is cleared. */
const vectors = [
  ['', '51125222da5e763d97f3c10fcc92ea6860b9ccbbd2eb1285728f566721c1e65b'],
  ['abc', '7d56d1e08cb0ccb92baf069c18c49bb5a0dcd927eff8dcf75ca921ef7f3e6eeb'],
  ['abcdef0123456789', '3fbe66b9c9883d79e8407150e7c2a1c8680bee496c62fabe4619a72b3cabe90f'],
] as const

test('points are those of RFC 9380', () => {
  const tag = 'QUUX-V01-CS02-with-curve25519_XMD:SHA-512_ELL2_NU_'
  const points = encodeToCurve(
    tag,
    vectors.map(([message]) => message),
  )
  for (const [at, [, expected]] of vectors.entries()) {
    expect(toHex(points.subarray(at * 32, at * 32 + 32).toReversed())).toBe(expected)
  }
})

test('two secrets commute, and a different tag or value gives a different point', () => {
  const [one, other] = [secretFromSeed(1), secretFromSeed(2)]
  const points = encodeToCurve('tag', ['smith', 'smyth'])
  expect(multiplyTwice(points, one, other)).toEqual(multiplyTwice(points, other, one))
  expect(toHex(points.subarray(0, 32))).not.toBe(toHex(points.subarray(32)))
  expect(encodeToCurve('another', ['smith', 'smyth'])).not.toEqual(points)
})

test('RFC 7748: multiplication agrees with the X25519 test vector', () => {
  const scalar = Buffer.from('a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4', 'hex')
  const point = Buffer.from('e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c', 'hex')
  expect(toHex(multiplyPoints(point, scalar) ?? new Uint8Array())).toBe(
    'c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552',
  )
})

test('points of low order and non-canonical encodings are rejected', () => {
  const low = [
    '0000000000000000000000000000000000000000000000000000000000000000',
    '0100000000000000000000000000000000000000000000000000000000000000',
    'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
    '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    // Not reduced: the prime itself, one above it, and a point with its highest bit set.
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    '0900000000000000000000000000000000000000000000000000000000000080',
  ]
  const good = encodeToCurve('tag', ['smith'])
  for (const point of low) {
    expect(multiplyPoints(Buffer.from(point, 'hex'), secretFromSeed(1)), point).toBeUndefined()
    expect(multiplyPoints(Buffer.concat([good, Buffer.from(point, 'hex')]), secretFromSeed(1)), point).toBeUndefined()
  }
  expect(multiplyPoints(good.subarray(1), secretFromSeed(1))).toBeUndefined()
})

test('every value maps to the curve, never to its twist', () => {
  // On the curve u^3 + 486662 u^2 + u is a square, and on the twist it is not (Euler's criterion).
  const p = 2n ** 255n - 19n
  const points = encodeToCurve(
    'tag',
    Array.from({ length: 64 }, (_, at) => `value ${at}`),
  )
  for (let at = 0; at < points.length; at += 32) {
    const u = BigInt(`0x${toHex(points.subarray(at, at + 32).toReversed())}`)
    expect(modularPower((u * u * u + 486662n * u * u + u) % p, (p - 1n) / 2n, p)).toBe(1n)
  }
})

function modularPower(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n
  for (let square = base, left = exponent; left > 0n; left >>= 1n, square = (square * square) % modulus) {
    if (left & 1n) result = (result * square) % modulus
  }
  return result
}

function multiplyTwice(points: Uint8Array, first: Uint8Array, then: Uint8Array): string {
  return toHex(multiplyPoints(multiplyPoints(points, first) ?? new Uint8Array(), then) ?? new Uint8Array())
}

function secretFromSeed(seed: number): Uint8Array {
  return new Uint8Array(32).fill(seed)
}

function toHex(data: Uint8Array): string {
  return Buffer.from(data).toString('hex')
}
