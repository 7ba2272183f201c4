// The origin check: accepts only requests that a page of another origin cannot make through a browser.
import { expect, test } from 'vitest'
import { checkRequestOrigin, type OriginPolicy } from './origin-check.ts'

const originPolicy: OriginPolicy = {
  hosts: new Set(['localhost', '[::1]', 'tools.example']),
  origins: new Set(['https://console.example']),
}

test.each(['localhost', 'localhost:8400', 'LOCALHOST:8400', '[::1]:8400', 'tools.example:443', 'tools.example:80'])(
  'host %s is accepted',
  (host) => {
    expect(checkRequestOrigin(originPolicy, { host })).toBeUndefined()
  },
)

test.each([
  undefined,
  '',
  'evil.example',
  'localhost.evil.example',
  'localhost.',
  'evil.example@localhost',
  'localhost/evil',
  'localhost#',
  'localhost, evil.example',
  'localhost:8400:8400',
  'localhost:99999',
  '%6cocalhost',
  '[::1',
  'ｌocalhost',
])('host %s is refused', (host) => {
  expect(checkRequestOrigin(originPolicy, host === undefined ? {} : { host })).toMatchObject({ code: 'forbidden' })
})

test.each(['https://console.example', 'http://localhost:8400', 'https://localhost:8400'])(
  'origin %s is accepted',
  (origin) => {
    expect(checkRequestOrigin(originPolicy, { host: 'localhost:8400', origin })).toBeUndefined()
  },
)

test.each([
  '',
  'null',
  'http://evil.example',
  'http://localhost:3000',
  'http://localhost',
  'https://console.example.evil.example',
  'http://console.example',
  'https://console.example/',
  'http://localhost:8400/',
  'http://localhost:8400, http://evil.example',
  'file://localhost:8400',
  'chrome-extension://abcdef',
])('origin "%s" is refused', (origin) => {
  expect(checkRequestOrigin(originPolicy, { host: 'localhost:8400', origin })).toMatchObject({ code: 'forbidden' })
})
