// Of the people whose keys signed, exactly one must count; keys that ended neither count nor spoil.
import { expect, test } from 'vitest'
import type { PublicKey } from '../../../kernel/cryptography/signatures.ts'
import type { Person } from '../../../kernel/identity/person.ts'
import { findPersonalSigner } from './rules.ts'

const made = '2026-01-01T12:00:00Z'
const key = (name: string, more: Partial<PublicKey> = {}): Person['keys'][number] => ({
  ...{ kid: name, algorithm: 'Ed25519', fingerprint: name.padEnd(43, 'A'), status: 'active' },
  ...{ created: '2025-01-01T00:00:00Z', jwk: {} },
  ...more,
  use: 'personal',
})
const ended = key('ended', { not_after: '2026-01-01T11:59:59Z' })
const last = key('last', { not_after: made })
const retired = key('retired', { status: 'retired' })
const [good, spare, other] = [key('good'), key('spare'), key('other')]
const ann: Person = { subject: 'ann', keys: [ended, last, retired, good, spare], enrolled: made }
const bob: Person = { subject: 'bob', keys: [other], enrolled: made }

function find(...keys: PublicKey[]) {
  const found = findPersonalSigner({ payload: new Uint8Array(), keys }, made, [ann, bob])
  return typeof found === 'string' ? found : `${found.person.subject} by ${found.key.kid}`
}

test('a key signs up to and at its last instant', () => {
  expect(find(last)).toBe('ann by last')
  expect(find(ended)).toBe('key_ended')
})

test('a key that had ended, or is not active, does not count, and does not spoil the other', () => {
  expect(find(ended, other)).toBe('bob by other')
  expect(find(good, retired)).toBe('ann by good')
  expect(find(retired)).toBe('key_ended')
})

test('two people, or two keys of one, are not one signature', () => {
  expect(find(good, other)).toBe('not_one')
  expect(find(good, spare)).toBe('not_one')
})

test('a key of nobody who is enrolled counts for nobody', () => {
  expect(find(key('stranger'))).toBe('not_one')
})

test('what does not verify at all keeps its reason', () => {
  expect(findPersonalSigner('key_revoked', made, [ann])).toBe('key_revoked')
})
