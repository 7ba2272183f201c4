// Authenticated encryption: the published vectors, and nothing readable after any change.
import { expect, test } from 'vitest'
import { decryptAuthenticated, encryptAuthenticated } from './authenticated-encryption.ts'

const key = Buffer.alloc(32, 1)
const nonce = Buffer.alloc(12, 2)
const plaintext = Buffer.from('a secret')

test('equals test case 14 of the specification of GCM (McGrew and Viega, 2004)', () => {
  const zero = Buffer.alloc(32)
  const encrypted = encryptAuthenticated(zero, Buffer.alloc(12), Buffer.alloc(16), '')
  const expected = `${'00'.repeat(12)}cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919`
  expect(Buffer.from(encrypted).toString('hex')).toBe(expected)
  expect(decryptAuthenticated(zero, encrypted, '')).toEqual(Buffer.alloc(16))
})

test('a change of any bit, another key, another context or a cut is unreadable', () => {
  const encrypted = encryptAuthenticated(key, nonce, plaintext, 'place')
  expect(decryptAuthenticated(key, encrypted, 'place')).toEqual(plaintext)
  for (let bit = 0; bit < encrypted.length * 8; bit += 1) {
    const changed = Buffer.from(encrypted)
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    expect(decryptAuthenticated(key, changed, 'place')).toBeUndefined()
  }
  expect(decryptAuthenticated(Buffer.alloc(32, 9), encrypted, 'place')).toBeUndefined()
  expect(decryptAuthenticated(key, encrypted, 'elsewhere')).toBeUndefined()
  for (let length = 0; length < encrypted.length; length += 1)
    expect(decryptAuthenticated(key, encrypted.subarray(0, length), 'place')).toBeUndefined()
})

test('a nonce of another length is a defect', () => {
  expect(() => encryptAuthenticated(key, Buffer.alloc(16), plaintext, '')).toThrow(TypeError)
})
