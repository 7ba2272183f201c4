// The check that finds, in a trace of system calls, what was done before the disk had what it rests on.
import { describe, expect, test } from 'vitest'
import { findBrokenLink, matchJournalWrite, matchRename, matchSync, parseCalls } from './system-calls.ts'

describe('the check itself', () => {
  const log = 'pwrite64(9</d/site.db-wal>, "msg_1"..., 4096, 0) = 4096'
  const sync = 'fdatasync(9</d/site.db-wal>) = 0'
  const rename = 'rename("/d/tmp/a", "/d/ready/a") = 0'
  const chain = [matchJournalWrite('site', 'msg_1'), matchSync('/site.db-wal'), matchRename('tmp/a', 'ready/a')]
  const broken = (...lines: string[]) => findBrokenLink(parseCalls(lines.map((line) => `7 ${line}`).join('\n')), chain)

  test('accepts a write that is durable before the next begins', () => {
    expect(broken(log, sync, rename)).toBe(undefined)
    const parts = ['fdatasync(9</d/site.db-wal> <unfinished ...>', '<... fdatasync resumed>)   = 0']
    expect(broken(log, ...parts, rename)).toBe(undefined)
  })

  test.each([
    ['a rename before the sync', 'rename of tmp/a to ready/a', [log, rename, sync]],
    ['a sync before the write', 'sync of /site.db-wal', [sync, log, rename]],
    ['a sync that failed', 'sync of /site.db-wal', [log, 'fdatasync(9</d/site.db-wal>) = -1 EIO (I/O error)', rename]],
    ['a sync of the database alone', 'sync of /site.db-wal', [log, 'fdatasync(8</d/site.db>) = 0', rename]],
    ['a write of something else', 'site logs msg_1', [log.replace('msg_1', 'msg_2'), sync, rename]],
    ['a rename elsewhere', 'rename of tmp/a to ready/a', [log, sync, rename.replace('ready', 'sent')]],
  ])('finds %s', (_, link, lines) => {
    expect(broken(...lines)).toBe(link)
  })

  test('finds a rename that begins while the sync still runs', () => {
    const lines = [
      `7 ${log}`,
      '7 fdatasync(9</d/site.db-wal> <unfinished ...>',
      `8 ${rename}`,
      '7 <... fdatasync resumed>) = 0',
    ]
    expect(findBrokenLink(parseCalls(lines.join('\n')), chain)).toBe('rename of tmp/a to ready/a')
  })
})
