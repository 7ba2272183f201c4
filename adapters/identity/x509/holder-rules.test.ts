// The profile's table of certificates: one row, letter by letter, or nobody.
import { expect, test } from 'vitest'
import { belongsTo, findHolder } from './holder-rules.ts'

const certificate = {
  fingerprint: 'f1',
  dn: 'CN=Ada,O=Example',
  uris: ['urn:a', 'urn:b'],
  emails: ['ada@example.invalid'],
}
const ada = { subject: 'ada', tenant_id: 'alpha', roles: ['analyst'] }

test('one row names it, by any of its names', () => {
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

test('no row, or two of them, name nobody', () => {
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

test('a token beside it is the holder’s, or the holder acts in it, in one tenant', () => {
  expect(belongsTo(ada, { sub: 'ada', tenant_id: 'alpha' })).toBe(true)
  expect(belongsTo(ada, { sub: 'bob', tenant_id: 'alpha', act: { sub: 'ada' } })).toBe(true)
  expect(belongsTo(ada, { sub: 'bob', tenant_id: 'alpha' })).toBe(false)
  expect(belongsTo(ada, { sub: 'ada', tenant_id: 'bravo' })).toBe(false)
  expect(belongsTo(ada, { sub: 'ada', tenant_id: '*' })).toBe(false)
})
