// Opens a SQLite file of the tenant as a source of rows, by a private copy.
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import * as z from 'zod'
import { DataFileError } from '../../../../adapters/platform/data-file/data-file.ts'
import { openTenantDataFile, TenantDataFileError } from '../../../../adapters/platform/data-file/tenant-data-file.ts'
import { sqliteSource } from '../../../../adapters/store/sqlite/source/sqlite-source.ts'
import type { OpenConnection } from '../../../roles/ingest/parts.ts'
import { type RowSource, RowSourceError } from '../../../shared/row-source/row-source.ts'
import type { SourceSettings } from '../thread-job.ts'

const piece_bytes = 1 << 22

/**
 * SQLite opens files by their paths, which others may exchange meanwhile, and reads what lies beside them. So it reads a copy of
 * the file that was opened by the rules of data files.
 */
export async function openSqlite(
  connection: OpenConnection,
  settings: SourceSettings,
  scratch: string,
): Promise<RowSource> {
  const name = z.looseObject({ file: z.string() }).parse(connection.config).file
  refuseJournals(connection, settings, name)
  await copyDataFile(connection, settings, name, scratch)
  try {
    const source = sqliteSource({ file: scratch, addonDir: settings.addonDir, packedAddon: settings.packedAddon })
    return {
      ...source,
      async close() {
        await source.close()
        removeCopy(scratch)
      },
    }
  } catch (error) {
    removeCopy(scratch)
    throw error
  }
}

/** What another program has not yet moved to the file would be missed. */
export function refuseJournals({ tenant_id }: OpenConnection, { data_folder }: SourceSettings, name: string): void {
  for (const ending of ['-wal', '-journal']) {
    try {
      const journal = openTenantDataFile(data_folder, tenant_id, `${name}${ending}`)
      journal.close()
      if (journal.size === 0) continue
    } catch (error) {
      if (error instanceof TenantDataFileError) continue
      throw error
    }
    throw new RowSourceError(
      'a program has the database open: close it there, or copy it with `sqlite3 FILE ".backup COPY"`',
      false,
    )
  }
}

async function copyDataFile({ tenant_id }: OpenConnection, { data_folder }: SourceSettings, name: string, to: string) {
  const file = convertFileErrors(() => openTenantDataFile(data_folder, tenant_id, name))
  try {
    const copy = openSync(to, 'wx', 0o600)
    try {
      for (let at = 0; at < file.size; at += piece_bytes) {
        const bytes = new Uint8Array(convertFileErrors(() => file.read(at, Math.min(file.size, at + piece_bytes))))
        for (let done = 0; done < bytes.length; ) done += writeSync(copy, bytes, done)
        await setImmediate()
      }
    } finally {
      closeSync(copy)
    }
    convertFileErrors(() => file.checkUnchanged())
  } finally {
    file.close()
  }
}

function convertFileErrors<T>(action: () => T): T {
  try {
    return action()
  } catch (error) {
    if (error instanceof TenantDataFileError) throw new RowSourceError(error.message, error.isFinal)
    if (error instanceof DataFileError) throw new RowSourceError(`the data file ${error.message}`, false)
    throw error
  }
}

function removeCopy(file: string): void {
  for (const ending of ['', '-wal', '-shm', '-journal']) rmSync(`${file}${ending}`, { force: true })
}
