// A new site's few values get into a shipped profile without losing a comment or touching another section.
import { expect, test } from 'vitest'
import { hasValue, listTemplates, readTemplate, withValue } from './profile-template.ts'

const text = ['# head', 'site:', '  port: 1 # why', '  # listen: x', 'consensus:', '  port: 2', ''].join('\n')

test('a value keeps its line and its comment', () => {
  expect(withValue(text, 'site', 'port', 9)).toBe(text.replace('port: 1 # why', 'port: 9 # why'))
  expect(withValue(text, 'consensus', 'port', 9)).toBe(text.replace('port: 2', 'port: 9'))
})

test('a missing value goes to the top of its section, a missing section to the end', () => {
  expect(withValue(text, 'consensus', 'listen', 'a: b')).toContain('consensus:\n  listen: "a: b"\n  port: 2')
  expect(withValue(text, 'edge', 'port', 3)).toMatch(/\n\nedge:\n {2}port: 3\n$/)
})

test('a list of names is written in one line', () => {
  expect(withValue(text, 'site', 'roles', ['site', 'hub'])).toContain('site:\n  roles: [site, hub]\n  port: 1')
})

test('a commented line is not a value, and neither is one of another section', () => {
  expect(hasValue(text, 'site', 'listen')).toBe(false)
  expect(hasValue(text, 'site', 'port')).toBe(true)
  expect(hasValue(text, 'edge', 'port')).toBe(false)
})

test('text that YAML could read otherwise stays text', () => {
  expect(withValue(text, 'site', 'name', 'null')).toContain('name: "null"')
})

test('each shipped profile names a site and a tenant to be replaced', () => {
  expect(listTemplates()).toEqual(expect.arrayContaining(['classified-airgapped', 'demo']))
  for (const name of listTemplates()) {
    const shipped = readTemplate(name) ?? ''
    expect([name, hasValue(shipped, 'platform', 'name'), hasValue(shipped, 'platform', 'tenant_id')]).toEqual([
      name,
      true,
      true,
    ])
  }
  expect(readTemplate('../package')).toBeUndefined()
})
