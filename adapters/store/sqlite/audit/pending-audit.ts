// Audit events of writes to a cluster, on this disk before the write is sent and in the chain once it is certain.
import * as z from 'zod'
import { auditEvent } from '../../../../daemon/kernel/audit/audit-chain.ts'
import type { PendingAudit, PendingWrite } from '../../../../daemon/kernel/audit/pending-audit.ts'
import { canonicalJson } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import type { SqliteFile } from '../sqlite-file.ts'
import type { SqliteAudit } from './audit.ts'

const eventList = z.array(auditEvent)

/** In the file of the chain. */
export function sqlitePendingAudit(file: SqliteFile, audit: SqliteAudit): PendingAudit {
  file.read((db) =>
    db.exec(`CREATE TABLE IF NOT EXISTS audit_owed (
      at INTEGER PRIMARY KEY, write TEXT NOT NULL UNIQUE, plan TEXT NOT NULL, events TEXT NOT NULL) STRICT`),
  )
  const insert = file.db.prepare<[string, string, string]>(
    'INSERT INTO audit_owed (write, plan, events) VALUES (?, ?, ?)',
  )
  const eventsOf = file.db.prepare<[string], string>('SELECT events FROM audit_owed WHERE write = ?').pluck()
  const remove = file.db.prepare<[string]>('DELETE FROM audit_owed WHERE write = ?')
  const all = file.db.prepare<[], PendingWrite>('SELECT write, plan FROM audit_owed ORDER BY at')
  return {
    async begin({ write, plan }, given) {
      // As the chain will hold them, so that nothing is begun that could not be sealed.
      const text = canonicalJson(eventList.parse(given))
      await file.write(() => insert.run(write, plan, text))
    },
    seal: (write) =>
      file.write((db) => {
        const text = eventsOf.get(write)
        if (text === undefined) return
        audit.appendInside(db, eventList.parse(JSON.parse(text)))
        remove.run(write)
      }),
    drop: (write) => file.write(() => void remove.run(write)),
    pending: async () => file.read(() => all.all()),
    append: (given) => audit.append(given),
  }
}
