// Shows what becomes of writes that share a transaction when one of them, the disk, or another process gets in the way.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { SqliteFile } from '../../adapters/store/sqlite/sqlite-file.ts'
import type { AuditLog } from '../../daemon/kernel/audit/audit-chain.ts'
import { refuse } from '../../daemon/kernel/error/errors.ts'
import type { Store } from '../../daemon/kernel/store/store.ts'
import { buildEvent, buildNote, notes } from '../conformance/store-requirement.ts'
import { openSqliteStore } from '../conformance/store-variants.ts'

let folder: string
let file: SqliteFile
let store: Store
let audit: AuditLog

beforeEach(() => {
  folder = path.join(mkdtempSync(path.join(tmpdir(), 'commit-')), 'site')
  const opened = openSqliteStore(folder)
  file = opened.file
  store = opened.store
  audit = opened.audit
})
afterEach(async () => {
  await store.close()
  rmSync(path.dirname(folder), { recursive: true, force: true })
})

const createDocument = (id: string) => store.create(notes, id, buildNote(), [buildEvent({ target: id })])
const statuses = (outcomes: PromiseSettledResult<unknown>[]) => outcomes.map(({ status }) => status)

async function expectWhole(documents: number): Promise<void> {
  expect(await store.count(notes)).toBe(documents)
  expect((await audit.head()).seq).toBe(documents)
  expect(await store.check()).toEqual([])
}

test('writes that wait together share transactions, in the order of their requests', async () => {
  let commits = 0
  file.beforeCommit(() => {
    commits += 1
  })
  await Promise.all(Array.from({ length: 300 }, (_, n) => createDocument(`n${n}`)))
  // One, unless the machine is so busy that the time for one transaction runs out.
  expect(commits).toBeLessThan(30)
  const targets = (await audit.list({ limit: 300, ascending: true })).map(({ event }) => event?.target)
  expect(targets).toEqual(Array.from({ length: 300 }, (_, n) => `n${n}`))
})

test('a job that throws after it wrote is undone alone', async () => {
  const halfWritten = file.write((db) => {
    db.prepare("UPDATE doc_note SET body = 'rubbish'").run()
    throw new Error('halfway')
  })
  const outcomes = await Promise.allSettled([createDocument('a'), halfWritten, createDocument('b')])
  expect(statuses(outcomes)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(outcomes[1]).toMatchObject({ reason: { message: 'halfway' } })
  await expectWhole(2)
})

test('reports a refusal after the commit that it rests on', async () => {
  const order: string[] = []
  const writes = [
    createDocument('a'),
    store.update(notes, 'a', () => {
      throw refuse('conflict', 'no')
    }),
    createDocument('b'),
  ]
  await Promise.allSettled(writes.map((write, n) => write.finally(() => order.push(`${n}`))))
  expect(order).toEqual(['0', '1', '2'])
})

test('a full disk refuses the transaction as unavailable, and the next one goes on from the stored state', async () => {
  await createDocument('a')
  const pages = Number(file.db.pragma('page_count', { simple: true }))
  file.db.pragma(`max_page_count = ${pages + 3}`)
  const big = (id: string) => store.create(notes, id, buildNote({ title: 'x'.repeat(100_000) }), [buildEvent()])
  const outcomes = await Promise.allSettled([createDocument('b'), big('c'), big('d')])
  expect(statuses(outcomes)).toContain('rejected')
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected')
      expect(outcome.reason).toMatchObject({ code: 'unavailable', row: { status: 503 } })
  }
  const written = 1 + outcomes.filter(({ status }) => status === 'fulfilled').length
  await expectWhole(written)
  file.db.pragma('max_page_count = 1000000')
  expect(await store.get(notes, 'c')).toBeUndefined()
  await big('e')
  await expectWhole(written + 1)
})

describe('beside another process on the same file', () => {
  test('while it holds the lock writes are unavailable, and reads go on', async () => {
    await createDocument('a')
    const other = openSqliteStore(folder)
    other.file.db.exec('BEGIN IMMEDIATE')
    const outcomes = await Promise.allSettled([createDocument('b'), createDocument('c')])
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: 'unavailable' } })
    expect(await store.get(notes, 'a')).toMatchObject({ version: 1 })
    other.file.db.exec('ROLLBACK')
    await other.store.close()
    await createDocument('b')
    await expectWhole(2)
  })

  test('a committed write is visible at once, and the chain goes on after its records', async () => {
    await createDocument('a')
    const other = openSqliteStore(folder)
    await other.store.put(notes, 'a', buildNote({ count: 5 }), 1, [buildEvent()])
    await other.store.remove(notes, 'a', 2)
    await other.store.create(notes, 'a', buildNote({ count: 7 }))
    expect(await store.get(notes, 'a')).toMatchObject({ version: 1, value: { count: 7 } })
    await createDocument('b')
    expect((await audit.head()).seq).toBe(3)
    expect(await store.check()).toEqual([])
    await other.store.close()
  })
})

test('files are for their owner only', () => {
  const mode = (name: string) => statSync(path.join(folder, name)).mode & 0o777
  expect(['.', 'store.db', 'store.db-wal', 'store.db-shm'].map(mode)).toEqual([0o700, 0o600, 0o600, 0o600])
})

describe('a check finds', () => {
  test.each([
    ['a body that is not JSON', 'body = substr(body, 2)', 'not JSON'],
    [
      'a body that is not of its schema',
      'body = replace(body, \'"count":0\', \'"count":-4\')',
      'does not match its schema',
    ],
    ['an index that is not what the body says', "f_kind = 'blue'", 'f_kind'],
    ['a document moved to another tenant', "tenant_id = 'bravo'", 'tenant_id'],
  ])('%s', async (_what, change, says) => {
    await createDocument('a')
    await createDocument('b')
    file.db.exec(`UPDATE doc_note SET ${change} WHERE id = 'b'`)
    expect(await store.check()).toEqual([expect.stringMatching(new RegExp(`^doc_note "b": .*${says}`))])
  })

  test('an altered audit record', async () => {
    await createDocument('a')
    file.db.exec("UPDATE audit SET hash = ''")
    expect(await store.check()).toEqual(['audit record 1 of test@here is altered'])
  })
})
