// Normal forms of paths, and targets without one.
import { describe, expect, test } from 'vitest'
import { normaliseTarget, type TargetFault } from './normal-target.ts'

const normalFormOf = (target: string) => {
  const normal = normaliseTarget(target, 0)
  return 'denied' in normal ? normal.denied : normal.path + normal.query
}

describe('the normal form', () => {
  test.each([
    ['/', '/'],
    ['/api/v1/report', '/api/v1/report'],
    ['/a-b_c.d~e', '/a-b_c.d~e'],
    ["/!$&'()*+,=:@", "/!$&'()*+,=:@"],
    ['/.well-known/x', '/.well-known/x'],
    ['/...', '/...'],
  ])('leaves %s', (target, form) => {
    expect(normalFormOf(target)).toBe(form)
  })

  test.each([
    ['/%61pi/%7Eme', '/api/~me'],
    ['/a%20b', '/a%20b'],
    ['/a%3fb', '/a%3Fb'],
    ['/caf%c3%a9', '/caf%C3%A9'],
    ['/%E6%97%A5', '/%E6%97%A5'],
    ['//a///b', '/a/b'],
    ['/a//', '/a/'],
    ['/./a/./b', '/a/b'],
    ['/a/../b', '/b'],
    ['/a/%2e%2E/b', '/b'],
    ['/a/b/../../c', '/c'],
    ['/a//../b', '/b'],
    ['/42;v=1', '/42;v=1'],
    ['/100%25', '/100%25'],
    ['/%25zz', '/%25zz'],
  ])('of %s is %s', (target, form) => {
    expect(normalFormOf(target)).toBe(form)
  })

  test('keeps the query byte for byte', () => {
    expect(normalFormOf('/a?b=%2e%2e%2F&c=%zz&d=//&e=?x|{}"<>\\^`')).toBe('/a?b=%2e%2e%2F&c=%zz&d=//&e=?x|{}"<>\\^`')
    expect(normaliseTarget('/a?', 0)).toEqual({ path: '/a', query: '?' })
  })

  test('begins where the prefix ends', () => {
    expect(normaliseTarget('/public-api/a/./b?c', 11)).toEqual({ path: '/a/b', query: '?c' })
  })
})

describe('no normal form', () => {
  const denied: readonly (readonly [TargetFault, readonly string[]])[] = [
    ['encoded_slash', ['/a%2fb', '/a%2F', '/%2e%2e%2fadmin']],
    ['backslash', ['/a\\b', '/..\\admin', '/..%5cadmin', '/%5C']],
    ['double_encoding', ['/%252e', '/%252f', '/%25%32%65', '/%25252e', '/%25%32f', '/%25u2215', '/a%2541']],
    ['bad_escape', ['/%', '/%2', '/%zz', '/%2%65', '/%u2215', '/a%', '/%%32e']],
    ['control_escape', ['/%00', '/42%00', '/%0a', '/%0d%0aX:1', '/%1f', '/%7F', '/%09', '/%c2%80', '/%C2%85']],
    // U+200B, U+202E, U+FEFF, U+00AD, U+E0001; U+2028, U+2029; U+0378, U+FFFE, U+10FFFF.
    ['control_escape', ['/%E2%80%8B', '/a%E2%80%AEb', '/%EF%BB%BF', '/%C2%AD', '/%F3%A0%80%81']],
    ['control_escape', ['/%E2%80%A8', '/x%E2%80%A9', '/%CD%B8', '/%EF%BF%BE', '/%F4%8F%BF%BF']],
    ['bad_utf8', ['/%ff', '/%c0%af', '/%c0%ae', '/%e0%80%af', '/%ed%a0%80', '/%f4%90%80%80', '/%80', '/%c3', '/%c3x']],
    [
      'lookalike',
      ['/%ef%bc%8f', '/%EF%BC%8E%EF%BC%8E', '/%e2%88%95', '/%e2%81%84', '/%ef%bc%bc', '/%e2%80%a6', '/%e2%84%80'],
    ],
    [
      'path_character',
      [
        '/a b',
        '/a\tb',
        '/\0',
        '/\x7f',
        '/\x80',
        '/\xff',
        '/caf\xc3\xa9',
        '/a"b',
        '/<',
        '/{id}',
        '/a|b',
        '/^',
        '/`',
        '/[',
      ],
    ],
    ['dot_id', ['/.', '/..', '/a/.', '/a/..', '/a/%2e', '/a/%2E%2e', '/a/.%2e']],
    [
      'dot_parameter',
      [
        '/..;',
        '/..;/a',
        '/.;x/a',
        '/a/..%3b',
        '/%2e%2e;',
        '/;',
        '/a/;x=1/b',
        '/a/%3B',
        '/..%20',
        '/a/%20/b',
        '/.%20;',
        '/%20..',
        '/.%20./a',
        '/%20',
      ],
    ],
    ['above_root', ['/../a', '/a/../../b', '/%2e%2e/a', '/./../a']],
    ['query_character', ['/a?b c', '/a?\t', '/a?\0', '/a?\x80', '/a?\r\n', '/a?\x7f']],
    ['fragment', ['/a#', '/a#b', '/a?b#c', '/a#/../admin']],
  ]
  for (const [reason, targets] of denied) {
    test.each(targets)(`${reason}: %j`, (target) => {
      expect(normalFormOf(target)).toBe(reason)
    })
  }
})
