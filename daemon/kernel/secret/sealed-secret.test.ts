// Sealed secrets: readable in their place alone, and of no length that tells something.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { max_secret_bytes, openSealedSecret, type SecretPlace, sealedSecret, sealSecret } from './sealed-secret.ts'

const dataKey = { id: `dk_${'a'.repeat(32)}`, key: Buffer.alloc(32, 1) }
const nonce = Buffer.alloc(12, 2)
const place: SecretPlace = { collection: 'connection', id: 'con_1', field: 'password', tenant_id: 'tenant-a' }

test('any text opens again where it was sealed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
      const sealed = sealSecret(dataKey, nonce, text, place)
      expect(sealedSecret.parse(sealed)).toEqual(sealed)
      expect(openSealedSecret(dataKey, sealed, place)).toBe(text)
    }),
  )
})

test.each(['collection', 'id', 'field', 'tenant_id'] as const)('it does not open in another %s', (part) => {
  const sealed = sealSecret(dataKey, nonce, 'hunter2', place)
  expect(openSealedSecret(dataKey, sealed, { ...place, [part]: 'other' })).toBeUndefined()
})

test('it does not open under another key id, nor by another key', () => {
  const sealed = sealSecret(dataKey, nonce, 'hunter2', place)
  expect(openSealedSecret({ ...dataKey, id: `dk_${'b'.repeat(32)}` }, sealed, place)).toBeUndefined()
  expect(openSealedSecret({ ...dataKey, key: Buffer.alloc(32) }, sealed, place)).toBeUndefined()
})

test('two passwords below 64 bytes give the same length', () => {
  const lengths = ['', 'a', 'x'.repeat(63)].map((text) => sealSecret(dataKey, nonce, text, place).sealed.length)
  expect(new Set(lengths).size).toBe(1)
})

test('the longest secret is stored, and one byte more is refused', () => {
  const longest = sealSecret(dataKey, nonce, 'x'.repeat(max_secret_bytes), place)
  expect(sealedSecret.parse(longest)).toEqual(longest)
  expect(() => sealSecret(dataKey, nonce, 'x'.repeat(max_secret_bytes + 1), place)).toThrow(RangeError)
})
