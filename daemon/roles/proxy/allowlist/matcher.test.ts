// Matching of requests to rules.
import { describe, expect, test } from 'vitest'
import { compileAllowlist } from './matcher.ts'
import { parseAllowlist } from './rule.ts'

const matcher = (text: string) => {
  const match = compileAllowlist(parseAllowlist(text).rules)
  return (method: string, path: string) => {
    const rule = match(method, path)
    return typeof rule === 'object' ? rule.name : rule
  }
}

describe('a rule', () => {
  const match = matcher('GET /a\nGET /a/{id}\nHEAD /a\nPOST /w\nGET /t/*\nGET /slash/\nGET /x/{id}/y')

  test.each([
    ['GET', '/a', 'GET /a'],
    ['HEAD', '/a', 'HEAD /a'],
    ['GET', '/a/1', 'GET /a/{id}'],
    ['GET', '/t/1', 'GET /t/*'],
    ['GET', '/t/1/2/3/', 'GET /t/*'],
    ['GET', '/slash/', 'GET /slash/'],
    ['GET', '/x/1/y', 'GET /x/{id}/y'],
  ])('%s %s is allowed by %s', (method, path, rule) => {
    expect(match(method, path)).toBe(rule)
  })

  test.each([
    ...[
      '/',
      '/a/',
      '/a/1/',
      '/a/1/2',
      '/A',
      '/aa',
      '/t',
      '/t/',
      '/slash',
      '/x/1',
      '/x//y',
      '/x/1/y/',
      '/x/1/2/y',
      '',
      '/b',
    ],
  ])('GET %j has none', (path) => {
    expect(match('GET', path)).toBeUndefined()
  })

  test.each([
    ['POST', '/a'],
    ['GET', '/w'],
    ['HEAD', '/a/1'],
    ['PUT', '/w'],
    ['OPTIONS', '/t/1'],
    ['get', '/a'],
    ['', '/a'],
    ['__proto__', '/a'],
  ])('%j %s is for another method', (method, path) => {
    expect(match(method, path)).toBe('method')
  })
})

describe('among several rules', () => {
  test('the most specific one from the left matches, in any order of the list', () => {
    const rules = ['GET /a/{x}/c', 'GET /a/b/{y}', 'GET /a/*', 'GET /{z}/b/c', 'GET /a/b/c/d']
    for (const match of [matcher(rules.join('\n')), matcher(rules.toReversed().join('\n'))]) {
      expect(match('GET', '/a/b/c')).toBe('GET /a/b/{y}')
      expect(match('GET', '/a/q/c')).toBe('GET /a/{x}/c')
      expect(match('GET', '/a/q/d')).toBe('GET /a/*')
      expect(match('GET', '/q/b/c')).toBe('GET /{z}/b/c')
      expect(match('GET', '/a/b/c/d')).toBe('GET /a/b/c/d')
      expect(match('GET', '/a/b/c/e')).toBe('GET /a/*')
    }
  })

  test('a rule of another method hides none', () => {
    const match = matcher('POST /a/b\nGET /a/{x}')
    expect(match('GET', '/a/b')).toBe('GET /a/{x}')
    expect(match('POST', '/a/c')).toBe('method')
  })

  test('a subtree of everything matches every path but the root', () => {
    const match = matcher('GET /*')
    expect(match('GET', '/a')).toBe('GET /*')
    expect(match('GET', '/')).toBeUndefined()
    expect(matcher('GET /')('GET', '/')).toBe('GET /')
  })
})

test('an empty allowlist matches nothing', () => {
  expect(matcher('')('GET', '/')).toBeUndefined()
})

test('names of object properties match nothing', () => {
  const match = matcher('GET /constructor\nGET /a/{id}')
  expect(match('GET', '/__proto__')).toBeUndefined()
  expect(match('GET', '/toString')).toBeUndefined()
  expect(match('GET', '/constructor')).toBe('GET /constructor')
  expect(match('GET', '/a/__proto__')).toBe('GET /a/{id}')
})
