// Filters of the store contract as SQL conditions over a table's indexed columns.
import type { Filter, FilterCondition, Scalar } from '../../../../daemon/kernel/store/store.ts'
import { isFixedColumn, type SqlCell, toCell } from './columns.ts'
import type { SqliteTable } from './table.ts'

/** A condition with `?` marks and what to bind to them. */
export type SqlClause = { readonly sql: string; readonly bind: readonly (SqlCell | number)[] }

const comparisons = { gte: '>=', gt: '>', lte: '<=', lt: '<' } as const

/** The column of an index field. @throws when the field is not an index: a mistake of the program, not of a caller. */
export function requireColumn(table: SqliteTable, field: string): string {
  if (!table.indexed.has(field)) throw new Error(`${field} is not an index of ${table.name}`)
  return isFixedColumn(field) ? field : `f_${field}`
}

/** All conditions joined; `1` when there are none. */
export function buildWhere(table: SqliteTable, filter: Filter = {}): SqlClause {
  const clauses = Object.entries(filter).map(([field, condition]) =>
    conditionClause(requireColumn(table, field), condition),
  )
  if (clauses.length > 0 && !('tenant_id' in filter || 'expires_ts' in filter)) clauses.push(everyTenantClause(table))
  return joinClauses(clauses)
}

export function joinClauses(clauses: readonly SqlClause[]): SqlClause {
  const parts = clauses.filter(({ sql }) => sql !== '1')
  if (parts.length === 0) return { sql: '1', bind: [] }
  return { sql: parts.map(({ sql }) => sql).join(' AND '), bind: parts.flatMap(({ bind }) => bind) }
}

/**
 * Indexes begin with the tenant, but for that of expiry. A sweep over all tenants names each of them, found by stepping through an index from
 * one tenant to the next, so that it seeks in every tenant's part of the field's index and reads no other document.
 */
function everyTenantClause({ name }: SqliteTable): SqlClause {
  const sql = `tenant_id IN (WITH RECURSIVE tenant (id) AS (
    SELECT min(tenant_id) FROM ${name}
    UNION ALL SELECT (SELECT min(tenant_id) FROM ${name} WHERE tenant_id > tenant.id) FROM tenant WHERE id IS NOT NULL)
    SELECT id FROM tenant WHERE id IS NOT NULL)`
  return { sql, bind: [] }
}

export function conditionClause(column: string, condition: FilterCondition): SqlClause {
  if (typeof condition !== 'object') return { sql: `${column} = ?`, bind: [toCell(condition)] }
  if ('in' in condition) return inClause(column, condition.in)
  if ('exists' in condition) return presenceClause(column, condition.exists)
  return rangeClause(column, condition)
}

export function inClause(column: string, values: readonly Scalar[]): SqlClause {
  if (values.length === 0) return { sql: '0', bind: [] }
  return { sql: `${column} IN (${values.map(() => '?').join(', ')})`, bind: values.map(toCell) }
}

function presenceClause(column: string, exists: boolean): SqlClause {
  if (column === 'label_key') return { sql: exists ? `${column} <> ''` : `${column} = ''`, bind: [] }
  return { sql: `${column} IS ${exists ? 'NOT NULL' : 'NULL'}`, bind: [] }
}

function rangeClause(column: string, bounds: { readonly [B in keyof typeof comparisons]?: Scalar }): SqlClause {
  const clauses: SqlClause[] = []
  for (const [bound, operator] of Object.entries(comparisons)) {
    const value = bounds[bound as keyof typeof comparisons]
    if (value !== undefined) clauses.push({ sql: `${column} ${operator} ?`, bind: [toCell(value)] })
  }
  return joinClauses(clauses)
}
