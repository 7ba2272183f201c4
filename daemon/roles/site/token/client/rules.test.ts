// Client authentication: both methods, never together, and one response for every failure.
import { describe, expect, test } from 'vitest'
import { sha256 } from '../../../../kernel/encoding/canonical-json.ts'
import { type OAuthClient, tokenRequest } from '../model.ts'
import { authenticateClient, isEqualInConstantTime } from './rules.ts'

const gateway: OAuthClient = {
  client_id: 'gateway',
  secret_sha256: sha256('s3cret: of +gateway%'),
  subject: 'svc:gateway',
  tenant_id: 'alpha',
  roles: ['service'],
  may_exchange: true,
}
const oddClient: OAuthClient = { ...gateway, client_id: 'odd:name', secret_sha256: sha256('') }
const secret = 's3cret: of +gateway%'
const basic = (id: string, password: string) =>
  `Basic ${btoa(`${encodeURIComponent(id).replaceAll('%20', '+')}:${encodeURIComponent(password).replaceAll('%20', '+')}`)}`
const authenticateForm = (request: object, authorization?: string) =>
  authenticateClient(tokenRequest.parse(request), authorization, [gateway, oddClient])

describe('a client is authenticated', () => {
  test('by the form', () => expect(authenticateForm({ client_id: 'gateway', client_secret: secret })).toBe(gateway))
  test('by Basic, both halves form-encoded (RFC 6749 section 2.3.1)', () => {
    expect(authenticateForm({}, basic('gateway', secret))).toBe(gateway)
    expect(authenticateForm({ client_id: 'gateway' }, basic('gateway', secret).replace('Basic', 'basic'))).toBe(gateway)
    expect(authenticateForm({}, basic('odd:name', ''))).toBe(oddClient)
  })
})

test('unknown client and wrong secret get the same response', () => {
  const failure = { error: 'invalid_client', error_description: 'the client is not authenticated' }
  expect(authenticateForm({ client_id: 'nobody', client_secret: secret })).toEqual(failure)
  expect(authenticateForm({ client_id: 'gateway', client_secret: 'wrong' })).toEqual(failure)
  expect(authenticateForm({ client_id: 'gateway', client_secret: gateway.secret_sha256 })).toEqual(failure)
  expect(authenticateForm({ client_id: 'gateway', client_secret: '' })).toEqual(failure)
  expect(authenticateForm({}, basic('nobody', sha256(secret)))).toEqual(failure)
})

test('missing, incomplete and malformed credentials are refused', () => {
  for (const request of [{}, { client_id: 'gateway' }, { client_secret: secret }]) {
    expect(authenticateForm(request)).toMatchObject({ error: 'invalid_client' })
  }
  const unreadable = [
    '',
    'Basic',
    'Basic ',
    'Basic !!!',
    `Basic ${btoa('gateway')}`,
    `Basic ${btoa('g%zz:x')}`,
    'Bearer abc',
    `Basic ${btoa(':x')}`,
  ]
  for (const header of unreadable) expect(authenticateForm({}, header)).toMatchObject({ error: 'invalid_client' })
})

test('two methods at once are refused', () => {
  expect(authenticateForm({ client_id: 'gateway', client_secret: secret }, basic('gateway', secret))).toMatchObject({
    error: 'invalid_request',
  })
  expect(authenticateForm({ client_id: 'odd:name' }, basic('gateway', secret))).toMatchObject({
    error: 'invalid_request',
  })
})

test('the comparison is exact for equal and unequal lengths', () => {
  expect(isEqualInConstantTime('abc', 'abc')).toBe(true)
  for (const candidate of ['abd', 'ab', 'abcabc', '']) expect(isEqualInConstantTime('abc', candidate)).toBe(false)
  expect(isEqualInConstantTime('', 'abc')).toBe(false)
})
