// A template gives documents below its literal part alone, however a way out is spelt.
import { describe, expect, test } from 'vitest'
import { findUriFault, offeredUri, uriAtService } from './resource-uri.ts'

const template = (uri: string) => ({ kind: 'template', uri }) as const
const files = template('file:///data/{+path}')

test.each(['file:///data/x', 'a:b', 'gateway://maps/notes://x', 'x://%2e?q=a#b'])('%s is found again', (uri) => {
  expect(uriAtService('maps', offeredUri('maps', uri))).toBe(uri)
  expect(uriAtService('map', offeredUri('maps', uri))).toBeUndefined()
  expect(uriAtService('maps', uri === 'gateway://maps/notes://x' ? 'notes://x' : uri)).toBeUndefined()
})

describe('of a template', () => {
  test.each([
    ['file:///data/a.txt', files],
    ['file:///data/a..b/.hidden/...', files],
    ['file:///data/%C5%BE/%20a', files],
    ['file:///data/', files],
    ['notes://by/2026-01-01', template('notes://by/{day}')],
    ['search://q?text=a.b', template('search://q{?text}')],
    ['db://t/1.5', template('db://t/{id}')],
  ])('%s is read', (uri, resource) => expect(findUriFault(resource, uri)).toBeUndefined())

  test.each([
    'file:///data/../etc/passwd',
    'file:///data/a/../../etc/passwd',
    'file:///data/..',
    'file:///data/.',
    'file:///data/%2e%2e/etc/passwd',
    'file:///data/.%2E/etc/passwd',
    'file:///data/%2e%2e%2fetc%2fpasswd',
    'file:///data/a%2f..%2f..%2fetc',
    'file:///data/%252e%252e/etc/passwd',
    'file:///data/%25252e%25252e%25252fetc',
    'file:///data/..%5cetc',
    'file:///data/..;/etc',
    'file:///data/..?x',
    'file:///data/..#x',
    'file:///data/a?name=../x',
    'file:///data/a?name=x&other=..%2fx',
    'file:///data/..%00',
    'file:///data/..%20/etc',
    'file:///data/%EF%BC%8E%EF%BC%8E/etc',
    'file:///data/a%0d%0aHost:x',
    'file:///data/%c0%ae%c0%ae/etc',
    `file:///data/${'%25'.repeat(1)}${'25'.repeat(8)}2e`,
  ])('%s is not', (uri) => expect(findUriFault(files, uri)).toMatch(/segment|escapes/))

  test('a way out that begins in the literal part is found', () => {
    expect(findUriFault(template('file:///data/.{name}'), 'file:///data/../etc')).toMatch(/segment/)
    expect(findUriFault(template('file:///data/.{name}'), 'file:///data/.profile')).toBeUndefined()
  })

  test.each(['file:///dat', 'file:///datax/a', 'FILE:///data/a', 'http://other/'])('%s is of no document', (uri) =>
    expect(findUriFault(files, uri)).toBe('is not that of an accepted resource'),
  )
})

test('a resource is exactly its URI', () => {
  const resource = { kind: 'resource', uri: 'notes://all/../x' } as const
  expect(findUriFault(resource, 'notes://all/../x')).toBeUndefined()
  expect(findUriFault(resource, 'notes://all/../x/')).toMatch(/not that/)
})

test.each(['notes://a b', 'notes://a\u0000', 'notes://a\n', 'notes://\u202e', 'notes://{a}', '//a', 'a'])(
  '%j is not a URI',
  (uri) => expect(findUriFault({ kind: 'resource', uri }, uri)).toMatch(/must be a URI/),
)

test('a URI of escapes alone is judged up to its length', () => {
  const uri = `file:///data/${'%25'.repeat(1_300)}`
  expect(findUriFault(files, uri)).toBeUndefined()
  expect(findUriFault(files, `${uri}${'a'.repeat(4_096)}`)).toMatch(/more than 4096/)
})
