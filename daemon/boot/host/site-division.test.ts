// Users that a profile may name for its roles: a site that cannot be divided among them does not start.
import { describe, expect, test } from 'vitest'
import { consensus } from '../../roles/consensus/role.ts'
import { site } from '../../roles/site/role.ts'
import { resolveProfileSettings } from '../profile.ts'
import { findDivisionProblems, resolveDivision } from './site-division.ts'

const resolvePlatform = (platform: Readonly<Record<string, unknown>>) =>
  resolveProfileSettings([site, consensus], { platform: { name: 'vault', tenant_id: 't', ...platform } }, {}, {}, '/')

/** Of a profile whose values are each in order. */
function listProblems(platform: Readonly<Record<string, unknown>>, roles = ['site', 'consensus']): string[] {
  const resolved = resolvePlatform(platform)
  expect(resolved.problems).toEqual([])
  return findDivisionProblems(resolved, roles).map(({ path, message }) => `${path}: ${message}`)
}

const os_group = 57_000
const os_users = { site: 57_001, consensus: 57_002 }

test('a site without users is not divided', () => {
  expect(listProblems({})).toEqual([])
  expect(resolveDivision(resolvePlatform({}))).toBeUndefined()
})

test('each role has its user, by name or by number', () => {
  const platform = { os_group, os_users: { ...os_users, consensus: 'nobody' } }
  expect(listProblems(platform)).toEqual([])
  const { group, users } = resolveDivision(resolvePlatform(platform)) ?? {}
  expect([group, users?.get('site')]).toEqual([57_000, 57_001])
  expect(users?.get('consensus')).toBeGreaterThan(0)
})

describe('does not start', () => {
  test.each<[string, Readonly<Record<string, unknown>>, readonly string[]]>([
    [
      'users without a group',
      { os_users },
      ['platform.os_group: platform.os_users is set, so the group that the users share is required'],
    ],
    ['a group without users', { os_group }, ['platform.os_users.site', 'platform.os_users.consensus']],
    [
      'a group that is not there',
      { os_group: 'no-such-group', os_users },
      ['platform.os_group: the group no-such-group does not exist on this machine'],
    ],
    [
      'a user who is not there',
      { os_group, os_users: { ...os_users, consensus: 'no-such-user' } },
      ['platform.os_users.consensus: the user no-such-user does not exist'],
    ],
    [
      'root as a role',
      { os_group, os_users: { ...os_users, consensus: 'root' } },
      ['platform.os_users.consensus: the user root'],
    ],
    ['root’s group', { os_group: 'root', os_users }, ['platform.os_group: the group root does not exist']],
  ])('%s', (_, platform, expected) => {
    expect(listProblems(platform)).toEqual(expected.map((begins) => expect.stringContaining(begins)))
  })

  test('a role without a user, and the site role’s is needed in any case', () => {
    expect(listProblems({ os_group, os_users: { site: 57_001 } }, ['site'])).toEqual([])
    expect(listProblems({ os_group, os_users: { consensus: 57_002 } }, ['consensus'])).toEqual([
      'platform.os_users.site: no user is set for this role',
    ])
  })

  test.each([0, -1, 1.5, 4_294_967_295, '', '0', '../passwd', 'a:b', '-x'])('%s as a user or group', (account) => {
    expect(resolvePlatform({ os_group: account, os_users }).problems).not.toEqual([])
    expect(resolvePlatform({ os_group, os_users: { ...os_users, consensus: account } }).problems).not.toEqual([])
  })
})
