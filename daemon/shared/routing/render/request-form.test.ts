// The targets that other servers may route are those of which every server reads the same path.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { normaliseTarget } from '../../../kernel/forward/normal-target.ts'
import { allowed_target, refused_target } from './request-form.ts'

const isRefused = (target: string) =>
  !new RegExp(allowed_target).test(target) || new RegExp(refused_target).test(target)

/** Escapes above ASCII are in no prefix: other servers forward them as they are, and services judge them. */
const withoutHighEscapes = (target: string) => target.replaceAll(/%[89A-Fa-f][0-9A-Fa-f]/g, 'x')
const decodeUnreserved = (path: string) =>
  path.replaceAll(/%[0-9A-Fa-f]{2}/g, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
    return /[A-Za-z0-9._~-]/.test(character) ? character : escaped.toUpperCase()
  })

/** Whether the normal form of the target is another path, or it has none. */
function mustBeRefused(target: string): boolean {
  const plain = withoutHighEscapes(target)
  const normal = normaliseTarget(plain, 0)
  return 'denied' in normal || normal.path !== decodeUnreserved(plain.split('?', 1)[0] ?? '')
}

test.each([
  ...['/', '/api/v1', '/api/v1/', '/a/b;c=d/', '/a/%20b', '/a%3Ab', '/%C3%A9', '/a/100%25', '/~a', '/%7Ea', '/a.b/...'],
  ...['/a?b=//../%2F', '/a?'],
])('%s is routed', (target) => expect([isRefused(target), mustBeRefused(target)]).toEqual([false, false]))

test.each([
  ...['//a', '/a//b', '/./a', '/a/../b', '/a/..', '/a/.', '/a/%2e%2E/b', '/a%2Fb', '/a%2fb', '/a%5Cb', '/a%00'],
  ...[
    '/a%7F',
    '/a%252Fb',
    '/a%25%32%46',
    '/a/..;/b',
    '/a/;x',
    '/a/%20/b',
    '/a/.%20.',
    '/a/%2e%3Bx',
    '/%',
    '/%g0',
    'a',
    '//%aF',
  ],
  ...['/a"b', '/a b', '/a#b', '/a?b#c', '/a\\b', '/{a}', '/é'],
])('%s is refused', (target) =>
  expect([isRefused(target), mustBeRefused(target) || target === 'a']).toEqual([true, true]),
)

test('a target is refused if a server could read another path in it', () => {
  const part = fc.constantFrom(
    ...['/', '/', '.', '..', ';', '?', 'a', 'api', '7', 'F', 'u', '#', '\\', '~', '%', '"', ':', 'é', ' '],
    ...[
      '%2',
      '%20',
      '%25',
      '%2E',
      '%2e',
      '%2F',
      '%3B',
      '%3b',
      '%32',
      '%46',
      '%55',
      '%75',
      '%5C',
      '%7E',
      '%61',
      '%0a',
      '%7f',
    ],
  )
  const target = fc.array(part, { maxLength: 9 }).map((parts) => `/${parts.join('')}`)
  fc.assert(
    fc.property(target, (each) => {
      expect(isRefused(each)).toBe(mustBeRefused(each))
    }),
    { numRuns: 20_000 },
  )
})
