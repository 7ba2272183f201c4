// Takes a record out of matching, by a pure rule: forgotten, without its values, or as one of an entity that is deleted.
import type { StoredRecord, Withdrawal } from '../entity-record/model.ts'

/** Keeps cluster and entity until both are settled without it. Returns the same value for a record that is withdrawn so. */
export function withdrawRecord(record: StoredRecord, withdrawn: Withdrawal, written: number): StoredRecord {
  const before = record.withdrawn?.kind
  if (before === 'forgotten' || before === withdrawn.kind) return record
  const { tenant_id, label, lens, ref, base, entity, run_id } = record
  const values = withdrawn.kind === 'forgotten' ? {} : record.values
  const entityField = entity === undefined ? {} : { entity }
  const { at } = withdrawn
  const withdrawal = { withdrawn, withdrawn_at: at, erasing: 'registry' as const, written, updated_at: at }
  return { tenant_id, label, lens, ref, values, base, ...entityField, run_id, ...withdrawal }
}
