// Exchanges the databases of several roles for verified copies: all of them, or none, also across a crash.
import * as fs from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { syncFolder } from '../../../adapters/platform/durable-file/sync-folder.ts'
import { writeDurably } from '../../../adapters/platform/durable-file/write-durably.ts'
import { databaseFileName } from '../../boot/backup/backup-set.ts'
import { runAsOwnerOf } from '../../boot/host/act-as-owner.ts'
import {
  exchangeRecordFile,
  roleDatabaseFile,
  roleDataFolder,
  type SiteFolder,
} from '../../boot/storage/site-folder.ts'
import { parseJsonAs } from '../../kernel/encoding/parse-json.ts'
import { OfflineCommandError } from '../offline-command-error.ts'

/**
 * `name`: of the folder that keeps the replaced data of a role. `stage`: of the folder with its copy. Both are beside the
 * data of the role: whoever can write the record can name no other place.
 */
const exchangeRecord = z.strictObject({
  name: z.string().regex(/^before-restore-[\w-]+$/),
  staged: z.array(
    z.strictObject({ role: z.string().regex(/^[a-z][a-z-]*$/), stage: z.string().regex(/^\.restore-[\w-]+$/) }),
  ),
})
type ExchangeRecord = z.infer<typeof exchangeRecord>

const parts = ['', '-wal', '-shm'] as const

/**
 * Exchanges the databases, and returns the folders with the replaced data. The record on disk is the way back: while it
 * exists, no role starts, and `undoInterruptedExchange` restores what was. Its removal makes the exchange final.
 */
export function exchangeDatabases(folder: SiteFolder, exchange: ExchangeRecord): string[] {
  const record = exchangeRecordFile(folder)
  const existing = exchange.staged.find(({ role }) => fs.existsSync(join(roleDataFolder(folder, role), exchange.name)))
  if (existing) throw new OfflineCommandError(3, `${existing.role} has a folder ${exchange.name} already`, 'try again')
  runAsOwnerOf(folder.data, () => writeDurably(record, JSON.stringify(exchangeRecord.parse(exchange))))
  try {
    const kept = exchange.staged.map(({ role, stage }) =>
      runAsOwnerOf(roleDataFolder(folder, role), () => exchangeDatabase(folder, role, stage, exchange.name)),
    )
    removeRecord(folder)
    return kept
  } catch (error) {
    undoInterruptedExchange(folder)
    throw error
  }
}

/** Takes back an exchange that did not become final; does nothing without one. May be repeated after another crash. */
export function undoInterruptedExchange(folder: SiteFolder): void {
  const record = exchangeRecordFile(folder)
  if (!isExchangeInterrupted(folder)) return
  const exchange = parseJsonAs(exchangeRecord, fs.readFileSync(record, 'utf8'))
  if (!exchange) throw new OfflineCommandError(5, `${record} cannot be read`, 'move the folders before-restore-* back')
  for (const { role, stage } of exchange.staged) {
    runAsOwnerOf(roleDataFolder(folder, role), () => undoDatabase(folder, role, stage, exchange.name))
  }
  removeRecord(folder)
}

/** Whether an exchange waits to be taken back. */
export function isExchangeInterrupted(folder: SiteFolder): boolean {
  return fs.existsSync(exchangeRecordFile(folder))
}

/** The copy of a role's database. */
export function stagedDatabaseFile(folder: SiteFolder, role: string, stage: string): string {
  return join(roleDataFolder(folder, role), stage, databaseFileName(role))
}

function exchangeDatabase(folder: SiteFolder, role: string, stage: string, name: string): string {
  const data = roleDataFolder(folder, role)
  const kept = join(data, name)
  const current = roleDatabaseFile(folder, role)
  fs.mkdirSync(kept, { mode: 0o700 })
  for (const part of parts) moveIfPresent(`${current}${part}`, join(kept, `${databaseFileName(role)}${part}`))
  fs.renameSync(stagedDatabaseFile(folder, role, stage), current)
  syncFolder(data)
  return kept
}

function undoDatabase(folder: SiteFolder, role: string, stage: string, name: string): void {
  const data = roleDataFolder(folder, role)
  const kept = join(data, name)
  if (fs.existsSync(kept)) {
    const [copy, current] = [stagedDatabaseFile(folder, role, stage), roleDatabaseFile(folder, role)]
    // The copy has left its place: it lies where the role's own database was.
    if (!fs.existsSync(copy) && fs.existsSync(current)) fs.renameSync(current, copy)
    for (const part of parts) moveIfPresent(join(kept, `${databaseFileName(role)}${part}`), `${current}${part}`)
    syncFolder(data)
    fs.rmdirSync(kept)
  }
  fs.rmSync(join(data, stage), { recursive: true, force: true })
}

function moveIfPresent(from: string, to: string): void {
  if (fs.existsSync(from)) fs.renameSync(from, to)
}

function removeRecord(folder: SiteFolder): void {
  runAsOwnerOf(folder.data, () => {
    fs.rmSync(exchangeRecordFile(folder))
    syncFolder(folder.data)
  })
}
