// The adapters that the requirements on stores are run against, each as a way to make a world with it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type SqliteAudit, sqliteAudit } from '../../adapters/store/sqlite/audit/audit.ts'
import { type SqliteFile, sqliteFile } from '../../adapters/store/sqlite/sqlite-file.ts'
import { sqliteStore } from '../../adapters/store/sqlite/store.ts'
import { notes, type StoreFixture } from './store-requirement.ts'

export type StoreVariant = {
  readonly name: string
  /** Whether what the adapter needs is here, and why not. */
  readonly isPresent: boolean
  readonly hint: string
  open(): Promise<{ world: StoreFixture; end(): Promise<void> }>
}

export const storeVariants: readonly StoreVariant[] = [{ name: 'sqlite', isPresent: true, hint: '', open: openSqlite }]

async function openSqlite() {
  const folder = mkdtempSync(path.join(tmpdir(), 'store-'))
  const opened: SqliteFile[] = []
  const worldOn = (name: string): StoreFixture => {
    const { file, store, audit } = openSqliteStore(folder, name)
    opened.push(file)
    return {
      store,
      audit,
      folder,
      files: folder,
      async reopen() {
        await store.close()
        return worldOn(name)
      },
      openCopy: async (copy) => worldOn(path.basename(copy)),
    }
  }
  const end = async () => {
    for (const file of opened) await file.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { world: worldOn('store.db'), end }
}

/** A store whose shared values are frozen, with its chain, on a file of the folder. */
export function openSqliteStore(folder: string, name = 'store.db') {
  const file = sqliteFile({ file: path.join(folder, name), addonDir: folder })
  const audit: SqliteAudit = sqliteAudit(file, 'test@here')
  const store = sqliteStore(file, { audit, collections: [notes], freeze: true })
  return { file, audit, store }
}
