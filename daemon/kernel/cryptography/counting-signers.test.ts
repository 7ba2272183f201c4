// Keys that ended or were revoked neither count nor spoil the signatures of the others.
import { describe, expect, test } from 'vitest'
import { dropRevokedKeys, findSignerFault, hasKeyEnded, selectCountingKeys } from './counting-signers.ts'
import type { PublicKey } from './signatures.ts'

const made = '2026-01-01T12:00:00Z'
const key = (name: string, more: Partial<PublicKey> = {}): PublicKey => ({
  ...{ kid: name, algorithm: 'Ed25519', fingerprint: name.padEnd(43, 'A'), use: 'message', status: 'active' },
  ...{ created: '2025-01-01T00:00:00Z', jwk: {} },
  ...more,
})
const [good, other] = [key('good'), key('other')]
const ended = key('ended', { not_after: '2026-01-01T11:59:59Z' })
const retired = key('retired', { status: 'retired' })
const verified = (...keys: PublicKey[]) => ({ payload: new Uint8Array(), keys })

test('a key signs up to and at its last instant', () => {
  const last = key('last', { not_after: made })
  expect(hasKeyEnded(last, Date.parse(made))).toBe(false)
  expect(hasKeyEnded(last, Date.parse(made) + 1)).toBe(true)
  expect(hasKeyEnded(good, Number.MAX_SAFE_INTEGER)).toBe(false)
})

describe('of the keys that signed', () => {
  test('one that had ended does not count, and does not spoil the others', () => {
    expect(selectCountingKeys([ended, good], made)).toEqual([good])
    expect(findSignerFault(verified(ended, good), 1, made)).toBeUndefined()
    expect(findSignerFault(verified(ended, good), 2, made)).toBe('too_few')
    expect(findSignerFault(verified(ended), 1, made)).toBe('key_ended')
    expect(findSignerFault(verified(ended), 1, undefined)).toBeUndefined()
  })

  test('a retired one counts for what it signed, unless it is a root key', () => {
    expect(findSignerFault(verified(retired), 1, made)).toBeUndefined()
    expect(findSignerFault(verified({ ...retired, use: 'root' }), 1, made)).toBe('key_ended')
  })

  test('distinct keys are counted', () => {
    expect(findSignerFault(verified(good, { ...good, kid: 'alias' }), 2, made)).toBe('too_few')
    expect(findSignerFault(verified(good, other), 2, made)).toBeUndefined()
    expect(findSignerFault('key_revoked', 1, made)).toBe('key_revoked')
  })
})

test('a key revoked under one name is revoked under all', () => {
  const alias = { ...good, kid: 'alias', status: 'revoked' as const }
  expect(dropRevokedKeys([good, alias, other])).toEqual([other])
})
