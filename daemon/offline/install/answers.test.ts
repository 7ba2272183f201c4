// The answers file: defaults, faults with their place, and values that could change the meaning of a unit or a script.
import { expect, test } from 'vitest'
import { parseAnswers } from './answers.ts'
import { renderUnits } from './service-units.ts'
import { renderSupervisor } from './shell-supervisor.ts'

const parse = (text: string) => parseAnswers(`format: 1\n${text}`, 'answers.yaml')

test('a name is enough', () => {
  expect(parse('site: { name: alpha }')).toMatchObject({
    site: { folder: '/var/lib/platform/site', profile: 'classified-airgapped' },
    users: { group: 'platform', prefix: 'platform' },
    service_manager: 'systemd',
    start: true,
  })
})

test.each([
  ['site: { name: alpha, folder: /var/lib/a b }', /site\.folder/],
  ['site: { name: alpha, folder: "/var/$(id)" }', /site\.folder/],
  ['site: { name: alpha, folder: /var/../etc }', /site\.folder/],
  ['site: { name: alpha, folder: var }', /site\.folder/],
  ['site: { name: alpha }\nwritable: ["/media/%n"]', /writable/],
  ['site: { name: alpha }\nusers: { prefix: "a;b" }', /users\.prefix/],
  ['site: { name: alpha, roles: [site, nobody] }', /roles/],
  ['site: { name: alpha, roles: [site, site] }', /named twice/],
  ['site: { name: alpha, roles: [consensus] }', /the role site/],
  ['site: { name: alpha }\nsandbox_roles: [gateway]', /sandbox_roles names gateway/],
  ['site: { name: alpha }\nstrat: true', /start/],
  ['site: [', /answers\.yaml/],
])('%j is refused', (text, message) => {
  expect(() => parse(text)).toThrow(message)
})

test('only roles that enclose commands may make namespaces', () => {
  const units = renderUnits(parse('site: { name: alpha }\nsandbox_roles: [site]\nwritable: [/media/courier]'))
  expect(units.get('platform-site.service')).not.toContain('RestrictNamespaces')
  expect(units.get('platform-site.service')).toContain(
    'ReadWritePaths=/var/lib/platform/site /var/backups/platform -/media/courier\n',
  )
  expect(units.get('platform-consensus.service')).toContain('RestrictNamespaces=yes\n')
  expect(units.get('platform-consensus.service')).toContain('After=network-online.target platform-site.service\n')
  expect([...units.values()].join('')).not.toContain('MemoryDenyWriteExecute')
})

test('the supervisor starts each role as its user', () => {
  expect(renderSupervisor(parse('site: { name: alpha, roles: [consensus, site] }'))).toMatch(
    /supervise site platform-site &\n.*\nsupervise consensus platform-consensus &/,
  )
})
