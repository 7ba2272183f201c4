// Where an identity provider may be asked, and where its discovery document is.
import { expect, test } from 'vitest'
import { discoveryUrl, isAllowedProviderUrl, isLoopbackUrl } from './url-rules.ts'

test.each([
  ['https://idp.example/realms/a', true],
  ['http://127.0.0.1:8080/x', true],
  ['http://[::1]/x', true],
  ['http://localhost/x', true],
  ['http://idp.example', false],
  ['http://127.0.0.1.example', false],
  ['http://localhost.example', false],
  ['http://10.0.0.1', false],
  ['https://user:secret@idp.example', false],
  ['https://user@idp.example', false],
  ['file:///etc/passwd', false],
  ['ftp://127.0.0.1', false],
  ['idp.example', false],
  ['', false],
])('%s: %s', (url, may) => {
  expect(isAllowedProviderUrl(url)).toBe(may)
})

test('what looks like another machine is one', () => {
  expect(isLoopbackUrl('https://127.0.0.1:1/')).toBe(true)
  expect(isLoopbackUrl('https://2130706433/')).toBe(true)
  expect(isLoopbackUrl('https://idp.example/127.0.0.1')).toBe(false)
  expect(isLoopbackUrl('https://127.0.0.1@idp.example/')).toBe(false)
})

test('the document is below the issuer, with one slash between them', () => {
  const where = 'https://idp.example/a/.well-known/openid-configuration'
  expect(discoveryUrl('https://idp.example/a')).toBe(where)
  expect(discoveryUrl('https://idp.example/a/')).toBe(where)
})
