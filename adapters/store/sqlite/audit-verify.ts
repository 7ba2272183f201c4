// Walks the whole audit chain, in pieces, and names the first record that is not as it was written.
import { setImmediate as turn } from 'node:timers/promises'
import { type ChainFault, genesis, verifyChain } from '../../../daemon/kernel/audit.ts'
import { type AuditRow, filedBy, type Head, readHead, recordOf } from './audit-table.ts'
import type { SqliteFile } from './file.ts'

/** Told after each piece: the records seen, of how many. */
export type Progress = (seen: number, of: number) => void

const chunk = 500

/** Records that are appended meanwhile are left to the next time. */
export async function chainFault(
  file: SqliteFile,
  writer: string,
  progress?: Progress,
): Promise<ChainFault | undefined> {
  const head = file.read((db) => readHead(db, writer))
  const next = file.db.prepare<[number, number, number], AuditRow>(
    'SELECT * FROM audit WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?',
  )
  const last = file.read((db) => db.prepare<[], number>('SELECT ifnull(max(seq), 0) FROM audit').pluck().get()) ?? 0
  let at: Head = { seq: 0, hash: genesis }
  while (at.seq < head.seq) {
    const rows = file.read(() => next.all(at.seq, head.seq, chunk))
    const fault = pieceFault(writer, rows, at)
    if (fault) return fault
    const end = rows.at(-1)
    if (!end) return { writer, seq: at.seq + 1, fault: 'missing' }
    at = { seq: end.seq, hash: end.hash }
    progress?.(at.seq, head.seq)
    // The chain may be long: let requests be served between the pieces.
    await turn()
  }
  if (at.hash !== head.hash) return { writer, seq: at.seq, fault: 'altered' }
  return last > head.seq ? { writer, seq: head.seq + 1, fault: 'altered' } : undefined
}

function pieceFault(writer: string, rows: readonly AuditRow[], from: Head): ChainFault | undefined {
  const records = []
  for (const row of rows) {
    const fault = rowFault(writer, row)
    // An earlier record of the same piece may be at fault too, and the first one counts.
    if (fault) return verifyChain(records, from) ?? fault
    records.push(recordOf(writer, row))
  }
  return verifyChain(records, from)
}

/** Whether the row can be read, and is filed under what its event says. */
function rowFault(writer: string, row: AuditRow): ChainFault | undefined {
  const altered: ChainFault = { writer, seq: row.seq, fault: 'altered' }
  try {
    const { event } = recordOf(writer, row)
    const filed: Record<string, unknown> = event ? filedBy(event) : {}
    const stored: Record<string, unknown> = { ...row }
    const parts = ['at', 'tenant_id', 'action', 'target', 'subject', 'label_key']
    return parts.every((part) => stored[part] === (filed[part] ?? null)) ? undefined : altered
  } catch {
    return altered
  }
}
