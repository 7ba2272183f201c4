// Records the cluster and indexes of a role's documents, so that another cluster or a lost index is not taken for a new one.
import type { SqliteFile } from '../sqlite-file.ts'

type RecordedCluster = { readonly cluster: string; readonly base: string }

const table_sql = `
  CREATE TABLE IF NOT EXISTS documents_cluster (
    one INTEGER PRIMARY KEY CHECK (one = 1), cluster TEXT NOT NULL, base TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS documents_index (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID`

/** In the role's own file; durable when a promise resolves. */
export function documentsCluster(file: SqliteFile) {
  file.read((db) => db.exec(table_sql))
  const place = file.db.prepare<[], RecordedCluster>('SELECT cluster, base FROM documents_cluster')
  const insert = file.db.prepare<[string, string]>(
    'INSERT OR IGNORE INTO documents_cluster (one, cluster, base) VALUES (1, ?, ?)',
  )
  const change = file.db.prepare<[string]>('UPDATE documents_cluster SET cluster = ?')
  const names = file.db.prepare<[], string>('SELECT name FROM documents_index ORDER BY name').pluck()
  const add = file.db.prepare<[string]>('INSERT OR IGNORE INTO documents_index (name) VALUES (?)')
  const drop = file.db.prepare<[string]>('DELETE FROM documents_index WHERE name = ?')
  const indexes = () => file.read(() => names.all())
  return {
    place: () => file.read(() => place.get()),
    /** Changes nothing once a location is recorded. */
    recordLocation: ({ cluster, base }: RecordedCluster) => file.write(() => void insert.run(cluster, base)),
    indexes,
    async addIndex(name: string): Promise<void> {
      if (!indexes().includes(name)) await file.write(() => void add.run(name))
    },
    /** Another cluster holds what this one held, but for the indexes that are given up: they are made anew when needed. */
    adopt: (cluster: string, given_up: readonly string[]) =>
      file.write(() => {
        change.run(cluster)
        for (const name of given_up) drop.run(name)
      }),
    /** As before the first cluster. */
    forget: () => file.write((db) => void db.exec('DELETE FROM documents_cluster; DELETE FROM documents_index')),
  }
}
