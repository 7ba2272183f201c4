// Dividing as root, in folders that others have written to: nothing outside the site changes its owner.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect } from 'vitest'
import {
  roleDataFolder,
  roleKeysFolder,
  roleRunFolder,
  type SiteFolder,
  siteFolder,
} from '../../daemon/boot/storage/site-folder.ts'
import { checkDivision } from '../../daemon/offline/doctor/checks/division.ts'
import { assignFileOwners } from '../../daemon/offline/site/assign-file-owners.ts'
import { makeSite } from '../../daemon/offline/site/make-site.ts'
import { whenPresent } from '../support/runner/requires.ts'

const isRoot = process.getuid?.() === 0
const test = whenPresent({ isPresent: isRoot, name: 'root', hint: 'only root can change the owner of files' })

const division = {
  group: 57_000,
  users: new Map([
    ['site', 57_001],
    ['consensus', 57_002],
  ]),
}

let base: string
let folder: SiteFolder
let outside: string
beforeEach(async () => {
  base = fs.mkdtempSync(path.join(tmpdir(), 'divide-'))
  folder = siteFolder(path.join(base, 'alpha'))
  const options = { template: 'demo', name: 'alpha', tenant_id: 'a', port_base: 0, algorithm: undefined }
  await makeSite(folder, { ...options, now: Date.parse('2026-01-01T12:00:00Z') })
  for (const dir of [roleDataFolder(folder, 'consensus'), roleRunFolder(folder, 'consensus')])
    fs.mkdirSync(dir, { recursive: true })
  outside = path.join(base, 'outside')
  fs.mkdirSync(outside, { mode: 0o700 })
  fs.writeFileSync(path.join(outside, 'shadow'), 'precious', { mode: 0o600 })
})
afterEach(() => fs.rmSync(base, { recursive: true, force: true }))

const ownerOf = (file: string) => {
  const { uid, gid, mode } = fs.lstatSync(file)
  return [uid, gid, (mode & 0o7777).toString(8)]
}
const expectUntouched = () =>
  expect([ownerOf(outside), ownerOf(path.join(outside, 'shadow'))]).toEqual([
    [0, 0, '700'],
    [0, 0, '600'],
  ])

test('changes the owner of each path once, and a repeat has nothing to do', () => {
  expect(assignFileOwners(folder, division)).toBeGreaterThan(10)
  expect(ownerOf(roleDataFolder(folder, 'consensus'))).toEqual([57_002, 57_000, '700'])
  expect(ownerOf(folder.profile)).toEqual([57_001, 57_000, '640'])
  expect(assignFileOwners(folder, division)).toBe(0)
})

test.each([
  ['to a file', 'shadow'],
  ['to a folder', '.'],
])('a link %s outside is not followed', (_, target) => {
  for (const place of [
    roleDataFolder(folder, 'consensus'),
    roleRunFolder(folder, 'consensus'),
    roleKeysFolder(folder, 'consensus'),
  ]) {
    fs.symlinkSync(path.join(outside, target), path.join(place, 'link'))
  }
  assignFileOwners(folder, division)
  expectUntouched()
})

test('changes the owner of a lock that is a link, and not of its target', () => {
  fs.rmSync(path.join(roleRunFolder(folder, 'consensus'), 'lock'), { force: true })
  fs.symlinkSync(path.join(outside, 'shadow'), path.join(roleRunFolder(folder, 'consensus'), 'lock'))
  assignFileOwners(folder, division)
  expectUntouched()
})

test.each([
  ['in the data of a role', () => path.join(roleDataFolder(folder, 'consensus'), 'consensus.db')],
  ['in the place of its lock', () => path.join(roleRunFolder(folder, 'consensus'), 'lock')],
])('a second name of a file outside is refused by name, %s', (_, place) => {
  const name = place()
  fs.rmSync(name, { force: true })
  fs.linkSync(path.join(outside, 'shadow'), name)
  expect(() => assignFileOwners(folder, division)).toThrow(`${name} has more than one hard link`)
  expectUntouched()
})

test('a link in the place of a role’s folder is refused by name', () => {
  const name = roleDataFolder(folder, 'consensus')
  fs.rmSync(name, { recursive: true })
  fs.symlinkSync(outside, name)
  expect(() => assignFileOwners(folder, division)).toThrow(`${name} is neither a folder nor a regular file`)
  expectUntouched()
})

test('a pipe holds nothing up', () => {
  execFileSync('mkfifo', [path.join(roleDataFolder(folder, 'consensus'), 'pipe')])
  assignFileOwners(folder, division)
  expect(assignFileOwners(folder, division)).toBe(0)
})

describe('the doctor', () => {
  const at = (...names: readonly string[]) => path.join(base, 'alpha', ...names)
  const aKey = () => at('keys', fs.readdirSync(at('keys')).find((name) => name.startsWith('message-')) ?? '')
  const consensusKey = () => {
    const dir = roleKeysFolder(folder, 'consensus')
    return path.join(dir, fs.readdirSync(dir)[0] ?? '')
  }

  type Fault = readonly [what: string, spoil: () => string, fault: string]
  const repaired: readonly Fault[] = [
    [
      'a private key that is another role’s',
      () => changeOwner(aKey(), 57_002),
      'belongs to 57002:57000; expected 57001:57000',
    ],
    [
      'the key of a role that is root’s',
      () => changeOwner(consensusKey(), 0),
      'belongs to 0:57000; expected 57002:57000',
    ],
    [
      'the data of a role that is the site role’s',
      () => changeOwner(at('data', 'consensus'), 57_001),
      'expected 57002:57000',
    ],
    [
      'a folder of a group that is another',
      () => changeOwner(at('run', 'site'), 57_001, 57_004),
      'belongs to 57001:57004',
    ],
    ['messages that the group may list', () => opened(at('filedrop'), 0o750), 'has mode 750; expected 700'],
    ['keys that everybody may read', () => opened(aKey(), 0o644), 'has mode 644; expected 600'],
    [
      'a list of keys that the group may change',
      () => opened(at('identity', 'token-keys.json'), 0o660),
      'has mode 660',
    ],
    ['a list of keys that a role cannot read', () => opened(at('identity', 'token-keys.json'), 0o600), 'has mode 600'],
    ['a folder that a role cannot pass through', () => opened(at('run'), 0o700), 'has mode 700; expected 750'],
  ]
  const lasting: readonly Fault[] = [
    ['a folder of a role that is missing', () => removed(at('run', 'consensus')), 'is missing'],
    ['a link in its place', () => linked(at('data', 'consensus')), 'is neither a folder nor a regular file'],
  ]

  function changeOwner(name: string, uid: number, gid = division.group): string {
    fs.chownSync(name, uid, gid)
    return name
  }
  function opened(name: string, mode: number): string {
    fs.chmodSync(name, mode)
    return name
  }
  function removed(name: string): string {
    fs.rmSync(name, { recursive: true })
    return name
  }
  function linked(name: string): string {
    fs.symlinkSync(outside, removed(name))
    return name
  }

  beforeEach(() => {
    fs.mkdirSync(roleRunFolder(folder, 'site'), { recursive: true })
    fs.mkdirSync(roleDataFolder(folder, 'site'), { recursive: true })
    assignFileOwners(folder, division)
  })

  test('finds nothing in a site that was divided', () => {
    expect(checkDivision(folder, division)).toMatchObject([{ state: 'ok' }])
  })

  test.each([...repaired, ...lasting])('tells of %s', (_, spoil, fault) => {
    const name = spoil()
    expect(checkDivision(folder, division)).toEqual([
      {
        code: 'permissions.not_divided',
        check: 'permissions',
        state: 'problem',
        detail: expect.stringMatching(new RegExp(`^${name} .*${fault}`)),
        remedy: expect.stringContaining('platform site divide'),
        paths: [name],
      },
    ])
  })

  test.each(repaired)('names a remedy that repairs %s', (_, spoil) => {
    spoil()
    expect(assignFileOwners(folder, division)).toBe(1)
    expect(checkDivision(folder, division)).toMatchObject([{ state: 'ok' }])
  })
})
