// Records in a role's database how far the schedules of its workers are handled.
import type { HandledTime, ScheduleRecord } from '../../../../daemon/kernel/schedule/due-time.ts'
import type { SqliteFile } from '../sqlite-file.ts'

const table_sql = `
  CREATE TABLE IF NOT EXISTS worker_schedule (
    worker TEXT PRIMARY KEY, schedule TEXT NOT NULL, due INTEGER NOT NULL, until INTEGER NOT NULL) STRICT, WITHOUT ROWID`

/** In the role's own file, whatever the home of its documents. */
export function sqliteScheduleRecord(file: SqliteFile): ScheduleRecord {
  file.read((db) => db.exec(table_sql))
  const find = file.db.prepare<[string, string], HandledTime>(
    'SELECT due, until FROM worker_schedule WHERE worker = ? AND schedule = ?',
  )
  const put = file.db.prepare<[string, string, number, number]>(
    'INSERT OR REPLACE INTO worker_schedule (worker, schedule, due, until) VALUES (?, ?, ?, ?)',
  )
  return {
    read: (worker, schedule) => file.read(() => find.get(worker, schedule)),
    write: (worker, schedule, { due, until }) => file.write(() => void put.run(worker, schedule, due, until)),
  }
}
