// A real document store on disk for one test, for code that knows stores by their contract alone.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { sqliteAudit } from '../../../adapters/store/sqlite/audit/audit.ts'
import { sqliteFile } from '../../../adapters/store/sqlite/sqlite-file.ts'
import { sqliteStore } from '../../../adapters/store/sqlite/store.ts'
import type { AuditLog } from '../../../daemon/kernel/audit/audit-chain.ts'
import type { AnyCollection, Store } from '../../../daemon/kernel/store/store.ts'

/** Closed, and its folder removed, when the test ends. */
export function openTemporaryStore(...collections: AnyCollection[]): { store: Store; audit: AuditLog } {
  const folder = mkdtempSync(path.join(tmpdir(), 'kept-'))
  const file = sqliteFile({ file: path.join(folder, 'store.db'), addonDir: folder })
  const audit = sqliteAudit(file, 'test@here')
  const store = sqliteStore(file, { audit, collections, freeze: true })
  onTestFinished(async () => {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { store, audit }
}
