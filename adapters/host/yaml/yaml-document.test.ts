// Parses the profile's YAML strictly: an ambiguous or exponentially growing document is a fault with its line.
import { expect, test } from 'vitest'
import { parseYaml } from './yaml-document.ts'

test('plain data is parsed', () => {
  const text = 'a: 1 # one\nb: [x, "2"]\nc: { d: true, e: null, f: no }\n'
  expect(parseYaml(text)).toEqual({ value: { a: 1, b: ['x', '2'], c: { d: true, e: null, f: 'no' } } })
  expect(parseYaml('')).toEqual({ value: null })
})

test.each([
  ['a key twice', 'a: 1\nb: 2\na: 3\n', /unique at line 3/],
  ['a missing end', 'a: [1, 2\n', /line/],
  ['a tab for indentation', 'a:\n\tb: 1\n', /line 2/],
  ['two documents', 'a: 1\n---\nb: 2\n', /multiple documents/],
  ['an alias', 'a: &x [1]\nb: *x\n', /aliases are not allowed/],
  ['an alias of a scalar', 'a: &x 1\nb: *x\n', /aliases are not allowed/],
  ['an alias of nothing', 'a: *x\n', /Unresolved alias|aliases/],
  ['a merge', 'a: &x { b: 1 }\nc: { <<: *x }\n', /aliases are not allowed/],
])('%s is a fault', (_, text, fault) => {
  const result = parseYaml(text)
  expect('faults' in result ? result.faults.join('\n') : result).toMatch(fault)
})

test('a few lines that would expand to billions are refused at once', () => {
  const levels = 'bcdefghij'.split('').map((name, at) => {
    const before = at === 0 ? 'a' : 'bcdefghij'[at - 1]
    return `${name}: &${name} [${Array.from({ length: 10 }, () => `*${before}`).join(', ')}]`
  })
  expect(parseYaml(['a: &a [x, x]', ...levels].join('\n'))).toEqual({ faults: ['aliases are not allowed'] })
})

test('a fault states the position, never the content', () => {
  const result = parseYaml('secret: "hunter2\nname: x\n')
  expect('faults' in result && result.faults.length > 0).toBe(true)
  expect(JSON.stringify(result)).not.toContain('hunter2')
})

test('a key named __proto__ is an ordinary key', () => {
  const { value } = parseYaml('__proto__: { polluted: true }\n') as { value: object }
  expect(Object.keys(value)).toEqual(['__proto__'])
  expect('polluted' in {}).toBe(false)
  expect('polluted' in value).toBe(false)
})
