// The profile's table of certificates: exactly one row must match a certificate, character by character.
import { expect, test } from 'vitest'
import { belongsTo, findHolder } from './holder-rules.ts'

const certificate = {
  fingerprint: 'f1',
  dn: 'CN=Ada,O=Example',
  uris: ['urn:a', 'urn:b'],
  emails: ['ada@example.invalid'],
}
const ada = { subject: 'ada', tenant_id: 'alpha', roles: ['analyst'] }

test('one row matches a certificate by any of its names', () => {
  for (const name of [
    { fingerprint: 'f1' },
    { uri: 'urn:b' },
    { email: 'ada@example.invalid' },
    { dn: certificate.dn },
  ]) {
    expect(
      findHolder(certificate, [
        { ...ada, dn: 'CN=Bob' },
        { ...ada, ...name },
      ]),
    ).toMatchObject(ada)
  }
})

test('a certificate that no row or two rows match has no holder', () => {
  expect(findHolder(certificate, [])).toBeUndefined()
  expect(findHolder(certificate, [{ ...ada, uri: 'urn:c' }])).toBeUndefined()
  expect(
    findHolder(certificate, [
      { ...ada, uri: 'urn:a' },
      { ...ada, uri: 'urn:b' },
    ]),
  ).toBeUndefined()
  expect(findHolder({ ...certificate, dn: '' }, [{ ...ada, dn: '' }])).toBeUndefined()
})

test('a token belongs to the holder if it is the subject or the actor, in the same tenant', () => {
  expect(belongsTo(ada, { sub: 'ada', tenant_id: 'alpha' })).toBe(true)
  expect(belongsTo(ada, { sub: 'bob', tenant_id: 'alpha', act: { sub: 'ada' } })).toBe(true)
  expect(belongsTo(ada, { sub: 'bob', tenant_id: 'alpha' })).toBe(false)
  expect(belongsTo(ada, { sub: 'ada', tenant_id: 'bravo' })).toBe(false)
  expect(belongsTo(ada, { sub: 'ada', tenant_id: '*' })).toBe(false)
})
