// Which requests come past the door: those that a browser on someone else's page cannot make.
import { expect, test } from 'vitest'
import { checkRequestOrigin, type OriginPolicy } from './origin-check.ts'

const originPolicy: OriginPolicy = {
  hosts: new Set(['localhost', '[::1]', 'tools.example']),
  origins: new Set(['https://console.example']),
}

test.each(['localhost', 'localhost:8400', 'LOCALHOST:8400', '[::1]:8400', 'tools.example:443', 'tools.example:80'])(
  'lets %s in',
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
])('refuses to be %s', (host) => {
  expect(checkRequestOrigin(originPolicy, host === undefined ? {} : { host })).toMatchObject({ code: 'forbidden' })
})

test.each(['https://console.example', 'http://localhost:8400', 'https://localhost:8400'])(
  'a page of %s may ask',
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
])('a page of "%s" may not', (origin) => {
  expect(checkRequestOrigin(originPolicy, { host: 'localhost:8400', origin })).toMatchObject({ code: 'forbidden' })
})
