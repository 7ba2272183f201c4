// The spoken fingerprint covers all that is pinned, and what people mishear or mistype is found before it is compared.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson, sha256 } from '../encoding/canonical-json.ts'
import type { PublicKey } from './signatures.ts'
import { parseSpokenFingerprint, type SpokenKeys, speakFingerprint } from './spoken-fingerprint.ts'

const createKey = (mark: string, use: PublicKey['use'] = 'message'): PublicKey => ({
  ...{ kid: `${use}-${mark}`, use, algorithm: 'Ed25519', fingerprint: mark.repeat(43), status: 'active' },
  ...{ created: '2026-01-01T00:00:00.000Z', jwk: { kty: 'OKP', crv: 'Ed25519', x: mark } },
})
const owner = { type: 'site', site: 'alpha', tenant_id: 'acme' } as const
const alpha: SpokenKeys = { owner, keys: [createKey('A'), createKey('B', 'root')] }
const groups = speakFingerprint(alpha)

test('it is eight groups of six digits, which anybody can compute from SHA-256 and the check digits of Damm', () => {
  const keys = alpha.keys.map(({ jwk: _, ...key }) => key)
  const hash = sha256(canonicalJson({ v: 1, type: 'platform.spoken-fingerprint', owner, keys }))
  const digits = (BigInt(`0x${hash}`) % 10n ** 40n).toString().padStart(40, '0')
  expect(groups.map((group) => group.slice(0, 5)).join('')).toBe(digits)
  expect(groups.every((group) => /^\d{6}$/.test(group))).toBe(true)
})

test('every member that is pinned changes it, and the order of the keys does not', () => {
  const [a, b] = [createKey('A'), createKey('B', 'root')]
  expect(speakFingerprint({ owner, keys: [b, a] })).toEqual(groups)
  const others: SpokenKeys[] = [
    { owner: { ...owner, site: 'bravo' }, keys: [a, b] },
    { owner: { ...owner, tenant_id: 'other' }, keys: [a, b] },
    { owner: { ...owner, key_set: '0'.repeat(96) }, keys: [a, b] },
    { owner: { type: 'person' }, keys: [a, b] },
    { owner, keys: [a] },
    { owner, keys: [a, b, createKey('C')] },
    { owner, keys: [a, createKey('C', 'root')] },
    ...[
      { kid: 'x' },
      { use: 'root' as const },
      { algorithm: 'ES384' as const },
      { status: 'retired' as const },
      { created: '2027-01-01T00:00:00.000Z' },
      { not_after: '2027-01-01T00:00:00.000Z' },
    ].map((change) => ({ owner, keys: [{ ...a, ...change }, b] })),
  ]
  const spoken = [groups, ...others.map(speakFingerprint)].map((each) => each.join(' '))
  expect(new Set(spoken).size).toBe(others.length + 1)
})

describe('what a person types', () => {
  const typed = groups.join(' ')

  test.each([typed, groups.join(''), groups.join('-'), ` ${groups.join('.  ')}\n`])('"%s" is read', (text) => {
    expect(parseSpokenFingerprint(text)).toEqual({ groups })
  })

  test('any one wrong digit names its group', () => {
    for (let at = 0; at < typed.length; at += 1) {
      if (typed[at] === ' ') continue
      for (let digit = 0; digit < 10; digit += 1) {
        if (String(digit) === typed[at]) continue
        const text = `${typed.slice(0, at)}${digit}${typed.slice(at + 1)}`
        const group = Math.floor(at / 7) + 1
        expect(parseSpokenFingerprint(text)).toEqual({ fault: `group ${group} is mistyped: have it read again` })
      }
    }
  })

  test('two swapped neighbours, and two swapped groups, are found in any fingerprint', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.nat(46), fc.nat(7), fc.nat(7), (site, at, one, other) => {
        const spoken = speakFingerprint({ owner: { ...owner, site }, keys: alpha.keys })
        const digits = spoken.join('')
        const swapped = `${digits.slice(0, at)}${digits[at + 1]}${digits[at]}${digits.slice(at + 2)}`
        if (swapped !== digits && at % 6 !== 5) expect(parseSpokenFingerprint(swapped)).toHaveProperty('fault')
        const moved = spoken.with(one, spoken[other] ?? '').with(other, spoken[one] ?? '')
        if (moved.join('') !== digits) expect(parseSpokenFingerprint(moved.join(' '))).toHaveProperty('fault')
      }),
      { numRuns: 500, seed: 7 },
    )
  })

  test.each(['', 'y', 'yes', typed.slice(0, -1), `${typed}1`, typed.replace('0', 'O').replace('1', 'l')])(
    '"%s" is not a fingerprint',
    (text) => {
      if (text === typed) return
      expect(parseSpokenFingerprint(text)).toHaveProperty('fault')
    },
  )
})
