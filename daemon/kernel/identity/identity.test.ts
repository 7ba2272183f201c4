// Which built-in role may do what in the roles of the platform.
import { expect, test } from 'vitest'
import { builtInRoles, permissionsOfRoles, permits } from './identity.ts'

const roleNames = Object.keys(builtInRoles)

/** The built-in roles that hold a permission. */
const holdersOf = (permission: string) =>
  roleNames.filter((role) => permits(permissionsOfRoles([role], builtInRoles), permission))

test.each([
  ['ingest:read', ['admin', 'operator', 'analyst', 'auditor', 'service']],
  ['ingest:write', ['admin', 'operator', 'analyst']],
  ['ingest:run', ['admin', 'operator', 'analyst']],
  ['ingest:connect', ['admin', 'operator']],
  ['ingest:dispatch', ['admin', 'operator', 'service']],
  ['gateway:read', ['admin', 'operator', 'analyst', 'auditor', 'service']],
  ['gateway:chat', ['admin', 'operator', 'analyst']],
  ['gateway:register', ['admin', 'service']],
  ['edge:read', ['admin', 'operator', 'auditor']],
  ['guide:observe', ['admin', 'operator', 'analyst', 'service']],
  ['guide:admin', ['admin']],
])('%s is held by %j', (permission, holders) => {
  expect(holdersOf(permission)).toEqual(holders)
})

test('a service that is not a role of the site neither speaks for the site nor keeps its records', () => {
  const ofRoles = ['channel:send', 'checkpoint:write', 'backup:write', 'message:verify', 'evidence:sign', 'key:write']
  expect(ofRoles.filter((permission) => holdersOf(permission).includes('service'))).toEqual([])
})

test('an auditor changes nothing, and a node reaches the hub alone', () => {
  const writes = ['write', 'run', 'connect', 'dispatch', 'chat', 'register', 'observe', 'admin', 'review', 'attest']
  expect(builtInRoles.auditor?.filter((each) => writes.includes(each.split(':')[1] ?? ''))).toEqual([])
  expect(holdersOf('hub:node')).toEqual(['admin', 'node'])
})
