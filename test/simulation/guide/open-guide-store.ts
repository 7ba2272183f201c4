// An empty store with the collections of guidance, in a folder of its own.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sqliteAudit } from '../../../adapters/store/sqlite/audit/audit.ts'
import { sqliteFile } from '../../../adapters/store/sqlite/sqlite-file.ts'
import { sqliteStore } from '../../../adapters/store/sqlite/store.ts'
import { guideCollections } from '../../../daemon/roles/gateway/guide/declaration.ts'

export function openGuideStore() {
  const folder = mkdtempSync(path.join(tmpdir(), 'guide-'))
  const file = sqliteFile({ file: path.join(folder, 'store.db'), addonDir: folder })
  const audit = sqliteAudit(file, 'test@here')
  const store = sqliteStore(file, { audit, collections: guideCollections, freeze: true })
  const end = async () => {
    await file.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { store, audit, end }
}
