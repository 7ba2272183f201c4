// Looks up users and groups; an unknown name never resolves to an id.
import { expect, test } from 'vitest'
import { groupId, userId, userName } from './system-users.ts'

test('a name is looked up, a number is its own id', () => {
  expect([userId('root'), groupId('root'), userId(57_001), groupId(57_000)]).toEqual([0, 0, 57_001, 57_000])
  expect(userId('nobody')).toBeGreaterThan(0)
})

test.each(['roo', 'root:x', 'root:x:0', '', 'x', '0', 'ROOT', 'no-such-account'])(
  '"%s" is not a user or group',
  (name) => {
    expect([userId(name), groupId(name)]).toEqual([undefined, undefined])
  },
)

test('a user without a name is shown as its number', () => {
  expect([userName(0), userName(57_001)]).toEqual(['root', '57001'])
})
