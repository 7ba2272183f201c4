// Ownership and permissions of each path in a divided site: a path without an entry belongs to the site role alone.
import { expect, test } from 'vitest'
import { findExpectedOwnership, type SitePathKind } from './path-ownership.ts'

const group = 1
const division = {
  group,
  users: new Map([
    ['site', 10],
    ['consensus', 20],
  ]),
}
const [site, consensus] = [10, 20]

test.each<[string, SitePathKind, number, number]>([
  ['', 'folder', site, 0o750],
  ['profile.yaml', 'file', site, 0o640],
  ['keys', 'folder', site, 0o700],
  ['keys/token-a.json', 'file', site, 0o600],
  ['peers', 'folder', site, 0o700],
  ['peers/bravo.json', 'file', site, 0o600],
  ['filedrop/bravo/in/new', 'folder', site, 0o700],
  ['identity', 'folder', site, 0o750],
  ['identity/lock', 'file', site, 0o600],
  ['identity/revoked.jsonl', 'file', site, 0o640],
  ['identity/token-keys.json', 'file', site, 0o640],
  ['identity/people', 'folder', site, 0o700],
  ['identity/people/token-keys.json', 'file', site, 0o600],
  ['identity/roles', 'folder', site, 0o750],
  ['identity/roles/consensus', 'folder', consensus, 0o700],
  ['identity/roles/consensus/token-a.json', 'file', consensus, 0o600],
  ['identity/roles/nobody', 'folder', site, 0o700],
  ['data', 'folder', site, 0o750],
  ['data/consensus', 'folder', consensus, 0o700],
  ['data/consensus/consensus.db-wal', 'file', consensus, 0o600],
  ['data/consensus/before-restore-x/consensus.db', 'file', consensus, 0o600],
  ['data/site/site.db', 'file', site, 0o600],
  ['data/else', 'folder', site, 0o700],
  ['data/backups', 'folder', site, 0o750],
  ['data/backups/2026-05-03T03-00-00-000Z', 'folder', site, 0o700],
  ['data/backups/2026-05-03T03-00-00-000Z/consensus.db', 'file', consensus, 0o600],
  ['data/backups/2026-05-03T03-00-00-000Z/site.db', 'file', site, 0o600],
  ['data/backups/2026-05-03T03-00-00-000Z/manifest.json', 'file', site, 0o600],
  ['data/backups/.2026-05-03T03-00-00-000Z.part', 'folder', site, 0o1770],
  ['run', 'folder', site, 0o750],
  ['run/consensus', 'folder', consensus, 0o750],
  ['run/consensus/sock', 'socket', consensus, 0o660],
  ['run/consensus/lock', 'file', consensus, 0o600],
  ['run/else', 'folder', site, 0o700],
])('%s (%s)', (path, kind, uid, mode) => {
  const names = path === '' ? [] : path.split('/')
  expect(findExpectedOwnership(names, kind, division)).toEqual({ uid, gid: group, mode })
})
