// The documents that a viewer may see, as an SQL condition: each label of its tenant's documents is judged once.
import { dominates, parseLabelKey } from '../../../../daemon/kernel/label/label.ts'
import type { Filter, ReadScope } from '../../../../daemon/kernel/store/store.ts'
import { buildWhere, inClause, joinClauses, type SqlClause } from './filter.ts'
import type { SqliteTable } from './table.ts'

/** To be used in the same read as the labels are found in. */
export function buildScopedWhere(
  table: SqliteTable,
  filter: Filter | undefined,
  scope: ReadScope | undefined,
): SqlClause {
  if (!scope) return buildWhere(table, filter)
  const { viewer, policy } = scope
  const own = buildWhere(table, { ...filter, tenant_id: viewer.tenant_id })
  const { tenant_id } = viewer
  const keys = table.prepare(labelKeysSql(table)).pluck().all(tenant_id, tenant_id) as string[]
  const seen = keys.filter((key) => key === '' || dominates(viewer, parseLabelKey(key), policy))
  return seen.length === keys.length ? own : joinClauses([own, inClause('label_key', seen)])
}

/** SQLite reads a tenant's part of the index for DISTINCT: this seeks from each key to the next instead. */
export function labelKeysSql({ name }: SqliteTable): string {
  const least = `SELECT min(label_key) FROM ${name} WHERE tenant_id = ?`
  return `WITH RECURSIVE step (at) AS (
    ${least} UNION ALL SELECT (${least} AND label_key > step.at) FROM step WHERE at IS NOT NULL)
    SELECT at FROM step WHERE at IS NOT NULL`
}
