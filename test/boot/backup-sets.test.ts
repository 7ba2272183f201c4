// A set gets its name when every role has put its copy there, and nothing else lies in it; otherwise nothing is left of it.
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { joseSignatures } from '../../adapters/keys/jose/signatures.ts'
import { roleBackup } from '../../daemon/boot/backup/role-backup.ts'
import { scheduledBackups } from '../../daemon/boot/backup/scheduled-backups.ts'
import type { RoleStorage } from '../../daemon/boot/storage/role-storage.ts'
import { roleDataFolder } from '../../daemon/boot/storage/site-folder.ts'
import { refuse } from '../../daemon/kernel/error/errors.ts'
import type { RoleClients } from '../../daemon/kernel/operation/operation-contract.ts'
import { resolveProfile } from '../../daemon/offline/site/site-profile.ts'
import { createTestSite, type TestSite } from '../support/site/test-site.ts'

let world: TestSite
let dir: string
beforeAll(async () => {
  world = await createTestSite({ profile: { platform: { roles: ['site', 'consensus'] } } })
  dir = path.join(world.folder.data, 'backups')
})
afterAll(() => world?.end())
beforeEach(() => fs.rmSync(dir, { recursive: true, force: true }))

/** Clients whose roles answer a backup request as `share` does. */
function clientsOf(share: BackupShare): RoleClients {
  return {
    request: async ({ address, output }, { set }) =>
      output.parse(await share(path.join(dir, `.${String(set)}.part`), address.split('.')[0] ?? '')) as never,
  }
}

const content = 'a database'
const whole = { state: 'done', sha256: 'a'.repeat(64), bytes: content.length }

/** A role's handling of the draft that it must fill, and its answer. */
type BackupShare = (draft: string, role: string) => unknown

const honestShare: BackupShare = (draft, role) => {
  fs.writeFileSync(path.join(draft, `${role}.db`), content, { flag: 'wx', mode: 0o600 })
  return whole
}

function runBackup(share: BackupShare, signal = new AbortController().signal): Promise<string> {
  const { folder, clock } = world
  const resolved = resolveProfile(folder, {})
  return scheduledBackups({ folder, resolved, now: clock.now, signatures: joseSignatures({ dir: folder.keys }) }).run(
    2,
    { roles: clientsOf(share), signal, report: async () => undefined },
  )
}

test('with the share of each role it is whole', async () => {
  const set = await runBackup(honestShare)
  expect(fs.readdirSync(dir)).toEqual([set])
  const manifest = JSON.parse(fs.readFileSync(path.join(dir, set, 'manifest.json'), 'utf8'))
  expect(manifest.databases).toEqual(
    ['site', 'consensus'].map((role) => ({ role, file: `${role}.db`, sha256: whole.sha256, bytes: whole.bytes })),
  )
})

test('a role gets another request while it copies', async () => {
  const requested: string[] = []
  await runBackup((draft, role) => {
    requested.push(role)
    return requested.length < 3 ? { state: 'copying' } : honestShare(draft, role)
  })
  expect(requested).toEqual(['site', 'site', 'site', 'consensus'])
})

test('a backup ends at once when it is cancelled, also while a role does not answer', async () => {
  const cancelled = new AbortController()
  const reason = new Error('cancelled')
  const running = runBackup(() => {
    cancelled.abort(reason)
    return new Promise(() => undefined)
  }, cancelled.signal)
  await expect(running).rejects.toBe(reason)
  expect(fs.readdirSync(dir)).toEqual([])
})

test('the refusal of a role keeps its code, by which the job retries the backup or ends it', async () => {
  for (const code of ['unavailable', 'timeout', 'already_exists'] as const) {
    const made = runBackup(() => Promise.reject(refuse(code, 'cannot be reached')))
    await expect(made).rejects.toMatchObject({
      code,
      message: 'the backup failed: the role site made no copy: cannot be reached',
    })
  }
})

test.each<[string, BackupShare, RegExp]>([
  [
    'does not answer',
    () => Promise.reject(refuse('unavailable', 'cannot be reached')),
    /consensus made no copy: cannot/,
  ],
  ['answers what no role would', () => ({ state: 'done' }), /consensus made no copy/],
  ['says that it copied, and did not', () => whole, /the set holds site\.db/],
  [
    'copied less than it says',
    (draft, role) => fs.writeFileSync(path.join(draft, `${role}.db`), 'a') ?? whole,
    /consensus\.db is not what was copied/,
  ],
  [
    'put a link there',
    (draft, role) => fs.symlinkSync(path.join(draft, 'site.db'), path.join(draft, `${role}.db`)) ?? whole,
    /consensus\.db is not what was copied/,
  ],
  [
    'put something besides there',
    (draft, role) => fs.writeFileSync(path.join(draft, 'manifest.json'), '{}') ?? honestShare(draft, role),
    /the set holds consensus\.db, manifest\.json, site\.db/,
  ],
])('a role that %s: no backup is made, and no draft remains', async (_, share, why) => {
  const before = await runBackup(honestShare)
  world.clock.advance(1_000)
  await expect(
    runBackup((draft, role) => (role === 'site' ? honestShare(draft, role) : share(draft, role))),
  ).rejects.toThrow(why)
  expect(fs.readdirSync(dir)).toEqual([before])
})

test('a role that the profile does not run, and that has data here, is not left out', async () => {
  const { folder, clock } = world
  fs.mkdirSync(roleDataFolder(folder, 'consensus'), { recursive: true })
  const resolved = resolveProfile(folder, { PLATFORM_ROLES: 'site' })
  const reported: [number, number][] = []
  const requested: string[] = []
  const clients = clientsOf((draft, role) => {
    requested.push(role)
    return honestShare(draft, role)
  })
  await scheduledBackups({ folder, resolved, now: clock.now, signatures: joseSignatures({ dir: folder.keys }) }).run(
    2,
    { roles: clients, signal: new AbortController().signal, report: async (...each) => void reported.push(each) },
  )
  expect(requested).toEqual(['site', 'consensus'])
  expect(reported).toEqual([
    [0, 2],
    [1, 2],
    [2, 2],
  ])
})

test('a role whose draft is removed while it copies answers that the backup ended', async () => {
  const { folder } = world
  const draft = path.join(dir, '.one.part')
  fs.mkdirSync(draft, { recursive: true })
  fs.mkdirSync(roleDataFolder(folder, 'consensus'), { recursive: true })
  const file = {
    async backup(to: string) {
      fs.writeFileSync(to, content)
      fs.rmSync(draft, { recursive: true })
    },
  }
  const backup = roleBackup({ role: 'consensus', file } as RoleStorage, folder, resolveProfile(folder, {}))
  expect(await backup?.('one')).toMatchObject({ code: 'not_found' })
  expect(fs.readdirSync(roleDataFolder(folder, 'consensus')).filter((name) => name.startsWith('.copy'))).toEqual([])
})
