// Position up to which the audit chain of this file has been copied to a cluster.
import type { SqliteFile } from '../sqlite-file.ts'

/** Zero before the first record. */
export function auditShippingPosition(file: SqliteFile): { get(): number; set(seq: number): Promise<void> } {
  file.read((db) =>
    db.exec(
      'CREATE TABLE IF NOT EXISTS audit_shipped (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL) STRICT',
    ),
  )
  const read = file.db.prepare<[], number>('SELECT seq FROM audit_shipped').pluck()
  const write = file.db.prepare<[number]>('INSERT OR REPLACE INTO audit_shipped (one, seq) VALUES (1, ?)')
  return {
    get: () => file.read(() => read.get()) ?? 0,
    set: (seq) => file.write(() => void write.run(seq)),
  }
}
