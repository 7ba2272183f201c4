// Filters of the store contract as SQL conditions over a table's indexed columns.
import type { Filter, FilterCondition, Scalar } from '../../../daemon/kernel/store/store.ts'
import { type Cell, cellOf, isFixed } from './columns.ts'
import type { Table } from './table.ts'

/** A condition with `?` marks and what to bind to them. */
export type Clause = { readonly sql: string; readonly bind: readonly (Cell | number)[] }

const comparisons = { gte: '>=', gt: '>', lte: '<=', lt: '<' } as const

/** The column of an index field. @throws when the field is no index: a mistake of the program, not of a caller. */
export function columnOf(table: Table, field: string): string {
  if (!table.indexed.has(field)) throw new Error(`${field} is not an index of ${table.name}`)
  return isFixed(field) ? field : `f_${field}`
}

/** All conditions joined; `1` when there are none. */
export function whereOf(table: Table, filter: Filter = {}): Clause {
  const clauses = Object.entries(filter).map(([field, condition]) => clauseOf(columnOf(table, field), condition))
  if (clauses.length > 0 && !('tenant_id' in filter || 'expires_ts' in filter)) clauses.push(everyTenant(table))
  return allOf(clauses)
}

export function allOf(clauses: readonly Clause[]): Clause {
  const parts = clauses.filter(({ sql }) => sql !== '1')
  if (parts.length === 0) return { sql: '1', bind: [] }
  return { sql: parts.map(({ sql }) => sql).join(' AND '), bind: parts.flatMap(({ bind }) => bind) }
}

/**
 * Indexes begin with the tenant, but for that of expiry. A sweep over all tenants names each of them, found by stepping through an index from
 * one tenant to the next, so that it seeks in every tenant's part of the field's index and reads no other document.
 */
function everyTenant({ name }: Table): Clause {
  const sql = `tenant_id IN (WITH RECURSIVE tenant (id) AS (
    SELECT min(tenant_id) FROM ${name}
    UNION ALL SELECT (SELECT min(tenant_id) FROM ${name} WHERE tenant_id > tenant.id) FROM tenant WHERE id IS NOT NULL)
    SELECT id FROM tenant WHERE id IS NOT NULL)`
  return { sql, bind: [] }
}

function clauseOf(column: string, condition: FilterCondition): Clause {
  if (typeof condition !== 'object') return { sql: `${column} = ?`, bind: [cellOf(condition)] }
  if ('in' in condition) return oneOf(column, condition.in)
  if ('exists' in condition) return presence(column, condition.exists)
  return range(column, condition)
}

export function oneOf(column: string, values: readonly Scalar[]): Clause {
  if (values.length === 0) return { sql: '0', bind: [] }
  return { sql: `${column} IN (${values.map(() => '?').join(', ')})`, bind: values.map(cellOf) }
}

function presence(column: string, exists: boolean): Clause {
  if (column === 'label_key') return { sql: exists ? `${column} <> ''` : `${column} = ''`, bind: [] }
  return { sql: `${column} IS ${exists ? 'NOT NULL' : 'NULL'}`, bind: [] }
}

function range(column: string, bounds: { readonly [B in keyof typeof comparisons]?: Scalar }): Clause {
  const clauses: Clause[] = []
  for (const [bound, operator] of Object.entries(comparisons)) {
    const value = bounds[bound as keyof typeof comparisons]
    if (value !== undefined) clauses.push({ sql: `${column} ${operator} ?`, bind: [cellOf(value)] })
  }
  return allOf(clauses)
}
