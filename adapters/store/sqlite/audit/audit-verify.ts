// Verifies the whole audit chain in pieces, and names the first record that was altered or is missing.
import { setImmediate as turn } from 'node:timers/promises'
import { type ChainFault, genesis_hash, verifyChain } from '../../../../daemon/kernel/audit/audit-chain.ts'
import { sha256 } from '../../../../daemon/kernel/encoding/canonical-json.ts'
import type { SqliteFile } from '../sqlite-file.ts'
import { readIndexedSeq } from './audit-index.ts'
import { type AuditHead, type AuditRow, filterColumns, readAuditHead, toAuditRecord } from './audit-table.ts'

/** Reports progress after each piece: records seen, and their total. */
export type AuditProgressListener = (seen: number, of: number) => void

/** A record with its index entry; nulls for a record that is not indexed. */
type AuditCheckRow = AuditRow & {
  filed_seq: number | null
  filed_tenant_id: string | null
  filed_target: string | null
  filed_at: number | null
}
type AuditChunk = { readonly rows: readonly AuditCheckRow[]; readonly filedTo: number }

const eventColumns = ['at', 'tenant_id', 'action', 'target', 'subject', 'label_key']
const checkedColumns = [...eventColumns, 'filed_seq', 'filed_tenant_id', 'filed_target', 'filed_at']

const chunk_size = 500

/** Records appended during the run are verified by the next run. */
export async function findChainFault(
  file: SqliteFile,
  writer: string,
  progress?: AuditProgressListener,
): Promise<ChainFault | undefined> {
  const head = file.read((db) => readAuditHead(db, writer))
  const next = file.db.prepare<[number, number, number], AuditCheckRow>(
    `SELECT audit.*, filed.seq AS filed_seq, filed.tenant_id AS filed_tenant_id, filed.target AS filed_target,
     filed.at AS filed_at FROM audit LEFT JOIN audit_filed AS filed ON filed.seq = audit.seq
     WHERE audit.seq > ? AND audit.seq <= ? ORDER BY audit.seq LIMIT ?`,
  )
  const last = file.read((db) => db.prepare<[], number>('SELECT ifnull(max(seq), 0) FROM audit').pluck().get()) ?? 0
  let at: AuditHead = { seq: 0, hash: genesis_hash }
  while (at.seq < head.seq) {
    const piece = file.read((db) => ({ rows: next.all(at.seq, head.seq, chunk_size), filedTo: readIndexedSeq(db) }))
    const { rows } = piece
    const fault = findChunkFault(writer, piece, at)
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

function findChunkFault(writer: string, { rows, filedTo }: AuditChunk, from: AuditHead): ChainFault | undefined {
  const records = []
  for (const row of rows) {
    // An earlier record of the same piece may be at fault too, and the first one counts.
    if (!isRowIntact(writer, row, filedTo)) {
      return verifyChain(records, from) ?? { writer, seq: row.seq, fault: 'altered' }
    }
    records.push(toAuditRecord(writer, row))
  }
  return verifyChain(records, from)
}

/** Whether the row can be read, and is indexed under the values of its event. */
function isRowIntact(writer: string, row: AuditCheckRow, filedTo: number): boolean {
  // The stored text itself: another text, with a member twice, may parse to the same event.
  if (row.event !== null && sha256(row.event) !== row.event_digest) return false
  try {
    const { event } = toAuditRecord(writer, row)
    const columns: Record<string, unknown> = event ? filterColumns(event) : {}
    const expected: Record<string, unknown> = { ...columns }
    if (event && row.seq <= filedTo) {
      expected.filed_seq = row.seq
      for (const part of ['tenant_id', 'target', 'at']) expected[`filed_${part}`] = columns[part]
    }
    const stored: Record<string, unknown> = { ...row }
    return checkedColumns.every((part) => stored[part] === (expected[part] ?? null))
  } catch {
    return false
  }
}
