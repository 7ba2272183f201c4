// Records in a role's database where its documents are stored: in SQLite or in a cluster, never in both.
import type { SqliteFile } from '../sqlite-file.ts'
import { storedCollections, tableName } from './table.ts'

export type DocumentsHome = 'sqlite' | 'opensearch'

/** Undefined for a database that has had no documents yet. */
export function readDocumentsHome(file: SqliteFile): DocumentsHome | undefined {
  return file.read((db) => {
    const isRecorded = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'documents_home'").get()
    if (isRecorded) return db.prepare<[], DocumentsHome>('SELECT home FROM documents_home').pluck().get()
    const holds = (name: string) => db.prepare(`SELECT 1 FROM ${tableName(name)} LIMIT 1`).get() !== undefined
    return storedCollections(db).some(holds) ? 'sqlite' : undefined
  })
}

export async function recordDocumentsHome(file: SqliteFile, home: DocumentsHome): Promise<void> {
  await file.write((db) => {
    db.exec(
      'CREATE TABLE IF NOT EXISTS documents_home (one INTEGER PRIMARY KEY CHECK (one = 1), home TEXT NOT NULL) STRICT',
    )
    db.prepare('INSERT OR REPLACE INTO documents_home (one, home) VALUES (1, ?)').run(home)
  })
}
