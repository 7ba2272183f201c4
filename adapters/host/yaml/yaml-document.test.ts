// Holds the profile's YAML to one plain meaning: what is ambiguous or may explode is a fault, told by its line.
import { expect, test } from 'vitest'
import { parseYaml } from './yaml-document.ts'

test('plain data comes through', () => {
  const text = 'a: 1 # one\nb: [x, "2"]\nc: { d: true, e: null, f: no }\n'
  expect(parseYaml(text)).toEqual({ value: { a: 1, b: ['x', '2'], c: { d: true, e: null, f: 'no' } } })
  expect(parseYaml('')).toEqual({ value: null })
})

test.each([
  ['a key twice', 'a: 1\nb: 2\na: 3\n', /unique at line 3/],
  ['an end that is missing', 'a: [1, 2\n', /line/],
  ['a tab for indentation', 'a:\n\tb: 1\n', /line 2/],
  ['two documents', 'a: 1\n---\nb: 2\n', /multiple documents/],
  ['an alias', 'a: &x [1]\nb: *x\n', /aliases are not allowed/],
  ['an alias of a scalar', 'a: &x 1\nb: *x\n', /aliases are not allowed/],
  ['an alias of nothing', 'a: *x\n', /Unresolved alias|aliases/],
  ['a merge', 'a: &x { b: 1 }\nc: { <<: *x }\n', /aliases are not allowed/],
])('%s is a fault', (_, text, fault) => {
  const read = parseYaml(text)
  expect('faults' in read ? read.faults.join('\n') : read).toMatch(fault)
})

test('a few lines that would become billions are refused at once', () => {
  const levels = 'bcdefghij'.split('').map((name, at) => {
    const before = at === 0 ? 'a' : 'bcdefghij'[at - 1]
    return `${name}: &${name} [${Array.from({ length: 10 }, () => `*${before}`).join(', ')}]`
  })
  expect(parseYaml(['a: &a [x, x]', ...levels].join('\n'))).toEqual({ faults: ['aliases are not allowed'] })
})

test('a fault says where, never what stands there', () => {
  const read = parseYaml('secret: "hunter2\nname: x\n')
  expect('faults' in read && read.faults.length > 0).toBe(true)
  expect(JSON.stringify(read)).not.toContain('hunter2')
})

test('a key with a special name is only a key', () => {
  const { value } = parseYaml('__proto__: { polluted: true }\n') as { value: object }
  expect(Object.keys(value)).toEqual(['__proto__'])
  expect('polluted' in {}).toBe(false)
  expect('polluted' in value).toBe(false)
})
