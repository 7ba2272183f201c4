// A restore takes what the site signed and this program created, from regular files alone: completely, or not at all.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { joseSignatures } from '../../adapters/keys/jose/signatures.ts'
import { loadSqliteAddon } from '../../adapters/store/sqlite/addon.ts'
import { type BackupEntry, signBackupManifest, writeBackupManifest } from '../../daemon/boot/backup/backup-set.ts'
import { exchangeRecordFile, roleDatabaseFile, roleDataFolder } from '../../daemon/boot/storage/site-folder.ts'
import {
  exchangeDatabases,
  stagedDatabaseFile,
  undoInterruptedExchange,
} from '../../daemon/offline/store/database-exchange.ts'
import { type CommandResult, createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { createTestSite, type TestSite } from '../support/site/test-site.ts'

const scratch = createScratchFolder('restore')
const good = path.join(scratch.dir, 'good')
let world: TestSite
let site: string
beforeAll(async () => {
  world = await createTestSite({ profile: { platform: { roles: ['site', 'consensus'] } } })
  site = path.dirname(world.folder.profile)
  await world.start()
  await world.stop()
  await runJsonCommand(['store', 'backup', good, '--site', site])
})
afterAll(async () => {
  await world?.end()
  scratch.remove()
})

/** A copy of the backup that a test may change. */
let backup: string
beforeEach(() => {
  backup = fs.mkdtempSync(path.join(scratch.dir, 'backup-'))
  fs.cpSync(good, backup, { recursive: true })
})

const restore = (...more: string[]): Promise<CommandResult> =>
  runCommand(['store', 'restore', backup, '--yes', '--site', site, ...more])

/** What a restore leaves in the folders of the roles. */
const traces = () =>
  ['site', 'consensus'].flatMap((role) =>
    fs.readdirSync(roleDataFolder(world.folder, role)).filter((name) => name.includes('restore')),
  )

async function expectRefusal(reason: string, ...more: string[]): Promise<void> {
  const before = traces()
  const { exit, stderr } = await restore(...more)
  expect([exit, stderr]).toEqual([5, expect.stringContaining(reason)])
  expect(traces()).toEqual(before)
}

const consensusFile = () => path.join(backup, 'consensus.db')

function runSql(sql: string): void {
  const db = new Database(consensusFile(), { nativeBinding: loadSqliteAddon('') })
  db.exec(sql)
  db.pragma('journal_mode = DELETE')
  db.close()
}

/** The manifest over the files as they are now, signed by the site's own key unless `signs` is false. */
async function rewriteManifest({ signs = true } = {}): Promise<void> {
  const file = path.join(backup, 'manifest.json')
  const manifest = JSON.parse(fs.readFileSync(file, 'utf8'))
  const databases = manifest.databases.map((entry: BackupEntry) => {
    const bytes = fs.readFileSync(path.join(backup, entry.file))
    return { ...entry, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
  })
  fs.rmSync(file)
  if (!signs) return fs.writeFileSync(file, JSON.stringify({ ...manifest, databases }))
  const signatures = joseSignatures({ dir: world.folder.keys })
  writeBackupManifest(backup, await signBackupManifest({ site: 'alpha', databases, now: Date.now(), signatures }))
}

test('the backup of the site is restored', async () => {
  expect(await restore()).toMatchObject({ exit: 0 })
})

describe('the signature', () => {
  test('must cover the digests', async () => {
    runSql('CREATE TABLE doc_added (id TEXT)')
    await rewriteManifest({ signs: false })
    await expectRefusal('the manifest is not what the site signed')
  })

  test('must be there, unless the person accepts a backup without one', async () => {
    const file = path.join(backup, 'manifest.json')
    const { signature: _, site: __, ...contents } = JSON.parse(fs.readFileSync(file, 'utf8'))
    fs.writeFileSync(file, JSON.stringify({ ...contents, v: 1 }))
    await expectRefusal('the backup is not signed')
    expect(await restore('--unsigned')).toMatchObject({ exit: 0 })
  })

  test('must be by a key of the site, or by one that the person names', async () => {
    const other = await createTestSite({ profile: { platform: { roles: ['site', 'consensus'] } } })
    const there = path.dirname(other.folder.profile)
    const words = ['store', 'restore', backup, '--yes', '--site', there]
    const refused = await runCommand(words)
    expect([refused.exit, refused.stderr]).toEqual([5, expect.stringContaining('its key is not one of this site')])
    const keys = path.join(scratch.dir, 'alpha-keys.json')
    expect(await runCommand(['keys', 'export', '--site', site, '--out', keys])).toMatchObject({ exit: 0 })
    expect(await runCommand([...words, '--keys', keys])).toMatchObject({ exit: 0 })
    await other.end()
  })

  test('must be of the same site', async () => {
    const other = await createTestSite({ name: 'bravo', profile: { platform: { roles: ['site', 'consensus'] } } })
    const there = path.dirname(other.folder.profile)
    const refused = await runCommand(['store', 'restore', backup, '--yes', '--site', there])
    expect([refused.exit, refused.stderr]).toEqual([5, expect.stringContaining('of the site alpha, not of bravo')])
    await other.end()
  })
})

describe('the schema', () => {
  test.each<[string, string, string]>([
    ['a trigger', 'CREATE TRIGGER hostile AFTER INSERT ON audit BEGIN DELETE FROM audit; END', 'trigger hostile'],
    ['a view', 'CREATE VIEW hostile AS SELECT * FROM audit', 'view hostile'],
    ['another table', 'CREATE TABLE hostile (a)', 'table hostile'],
    ['a virtual table', 'CREATE VIRTUAL TABLE hostile USING fts5(a)', 'table hostile'],
    ['a generated column', 'ALTER TABLE audit ADD COLUMN hostile TEXT AS (upper(hash))', 'column hostile'],
    ['a default that is computed', 'ALTER TABLE audit ADD COLUMN at2 TEXT DEFAULT (1)', 'column at2'],
    ['an index over an expression', 'CREATE INDEX hostile ON audit (upper(hash))', 'index hostile'],
    ['an index that refuses', 'CREATE UNIQUE INDEX hostile ON audit (tenant_id)', 'index hostile'],
  ])('with %s is refused, although the site has signed it', async (_, sql, reason) => {
    runSql(sql)
    await rewriteManifest()
    await expectRefusal(reason)
  })

  test('of an earlier release is accepted: columns and indexes of fields that are gone', async () => {
    runSql(`ALTER TABLE doc_session ADD COLUMN f_gone ANY;
      CREATE INDEX doc_session_by_f_gone ON doc_session (tenant_id, f_gone, id)`)
    await rewriteManifest()
    expect(await restore()).toMatchObject({ exit: 0 })
  })
})

describe('the files', () => {
  test('are regular: a pipe is refused without waiting', async () => {
    fs.rmSync(consensusFile())
    execFileSync('mkfifo', [consensusFile()])
    await expectRefusal('consensus.db of the backup is not a regular file')
  })

  test.each(['consensus.db', 'manifest.json'])('are not links: %s', async (name) => {
    fs.renameSync(path.join(backup, name), path.join(backup, 'target'))
    fs.symlinkSync('target', path.join(backup, name))
    await expectRefusal(`${name} of the backup is a link`)
  })

  test('have the size that was signed', async () => {
    fs.appendFileSync(consensusFile(), 'x')
    await expectRefusal('the manifest states')
  })

  test('belong to one role each', async () => {
    const file = path.join(backup, 'manifest.json')
    const manifest = JSON.parse(fs.readFileSync(file, 'utf8'))
    const databases = [...manifest.databases, manifest.databases[0]]
    fs.writeFileSync(file, JSON.stringify({ ...manifest, databases }))
    await expectRefusal('names a role twice')
  })
})

describe('an exchange', () => {
  /** Copies of the databases beside them, as a restore verifies them, with their content as a text. */
  function stageCopies(name: string) {
    const staged = ['site', 'consensus'].map((role) => {
      const stage = `.restore-${name}`
      const file = stagedDatabaseFile(world.folder, role, stage)
      fs.mkdirSync(path.dirname(file))
      fs.writeFileSync(file, 'from the backup')
      return { role, stage }
    })
    return { name: `before-restore-${name}`, staged }
  }
  const contents = () =>
    ['site', 'consensus'].map((role) =>
      fs.readFileSync(roleDatabaseFile(world.folder, role)).subarray(0, 15).toString(),
    )
  const own = ['SQLite format 3', 'SQLite format 3']

  test('that fails for one role is taken back for all', () => {
    const exchange = stageCopies('fails')
    fs.rmSync(stagedDatabaseFile(world.folder, 'consensus', exchange.staged[1]?.stage ?? ''))
    expect(() => exchangeDatabases(world.folder, exchange)).toThrow('ENOENT')
    expect(contents()).toEqual(own)
    expect(traces().filter((name) => name.includes('fails'))).toEqual([])
    expect(fs.existsSync(exchangeRecordFile(world.folder))).toBe(false)
  })

  test('whose record names another folder is not taken back', () => {
    const exchange = stageCopies('outside')
    const staged = exchange.staged.map(({ role }) => ({ role, stage: '../../keys' }))
    fs.writeFileSync(exchangeRecordFile(world.folder), JSON.stringify({ ...exchange, staged }))
    expect(() => undoInterruptedExchange(world.folder)).toThrow('cannot be read')
    expect(fs.existsSync(world.folder.keys)).toBe(true)
    fs.writeFileSync(exchangeRecordFile(world.folder), JSON.stringify(exchange))
    undoInterruptedExchange(world.folder)
    expect(contents()).toEqual(own)
    expect(traces().filter((name) => name.includes('outside'))).toEqual([])
  })

  test.each(['before the first', 'after the first', 'after the last'])(
    'that ends %s role stops every start until it is taken back',
    async (when) => {
      const exchange = stageCopies(when.replaceAll(' ', '-'))
      const replaced = when === 'before the first' ? [] : exchange.staged.slice(0, when === 'after the first' ? 1 : 2)
      exchangeDatabases(world.folder, { ...exchange, staged: replaced })
      // As a crash leaves it: the record is still there.
      fs.writeFileSync(exchangeRecordFile(world.folder), JSON.stringify(exchange))
      await expect(world.start()).rejects.toThrow('a restore was interrupted')
      const undone = await runCommand(['store', 'restore', '--undo', '--site', site])
      expect(undone, undone.stderr).toMatchObject({ exit: 0 })
      expect(contents()).toEqual(own)
      undoInterruptedExchange(world.folder)
      await world.start()
      await world.stop()
    },
  )
})
