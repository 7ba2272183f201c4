// Allowed URLs of an identity provider, and the URL of its discovery document.
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
])('%s: %s', (url, isAllowed) => {
  expect(isAllowedProviderUrl(url)).toBe(isAllowed)
})

test('only loopback addresses count as this machine', () => {
  expect(isLoopbackUrl('https://127.0.0.1:1/')).toBe(true)
  expect(isLoopbackUrl('https://2130706433/')).toBe(true)
  expect(isLoopbackUrl('https://idp.example/127.0.0.1')).toBe(false)
  expect(isLoopbackUrl('https://127.0.0.1@idp.example/')).toBe(false)
})

test('the discovery document is below the issuer, joined by one slash', () => {
  const expected = 'https://idp.example/a/.well-known/openid-configuration'
  expect(discoveryUrl('https://idp.example/a')).toBe(expected)
  expect(discoveryUrl('https://idp.example/a/')).toBe(expected)
})
