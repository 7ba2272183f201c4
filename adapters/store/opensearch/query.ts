// Filters of the store contract as queries of the cluster, with the answers that SQLite gives.
import type { Filter, FilterCondition, ReadScope, Scalar } from '../../../daemon/kernel/store/store.ts'
import { type FieldKind, keyOf, kindOfValue } from './field-kind.ts'
import { seenBy } from './sight.ts'
import type { Table } from './table.ts'

export type Query = Readonly<Record<string, unknown>>

const every: Query = { match_all: {} }
const none: Query = { match_none: {} }

/** The kind of an index field. @throws when the field is no index: a mistake of the program, not of a caller. */
export function kindOf(table: Table, field: string): FieldKind {
  const kind = table.kinds.get(field)
  if (!kind) throw new Error(`${field} is not an index of ${table.name}`)
  return kind
}

/** All conditions joined. */
export function queryOf(table: Table, filter: Filter = {}, sight?: ReadScope): Query {
  const asked = sight ? { ...filter, tenant_id: sight.viewer.tenant_id } : filter
  const clauses = Object.entries(asked).map(([field, condition]) => clauseOf(field, kindOf(table, field), condition))
  return allOf(sight ? [...clauses, ...seenBy(sight)] : clauses)
}

export function allOf(queries: readonly Query[]): Query {
  return queries.length === 0 ? every : { bool: { filter: queries } }
}

export function not(query: Query): Query {
  return { bool: { must_not: [query] } }
}

export function pathOf(field: string): string {
  return `fields.${field}`
}

export function exists(field: string): Query {
  return { exists: { field: pathOf(field) } }
}

function clauseOf(field: string, kind: FieldKind, condition: FilterCondition): Query {
  if (typeof condition !== 'object') return equalTo(field, kind, [condition])
  if ('in' in condition) return equalTo(field, kind, condition.in)
  if ('exists' in condition) return presence(field, condition.exists)
  const bounds = Object.entries(condition).map(([bound, value]) => within(field, kind, bound, value))
  return bounds.length === 0 ? every : allOf(bounds)
}

/** A value of another kind is nobody's. */
function equalTo(field: string, kind: FieldKind, values: readonly Scalar[]): Query {
  const keys = values.filter((value) => kindOfValue(value) === kind).map(keyOf)
  return keys.length === 0 ? none : { terms: { [pathOf(field)]: keys } }
}

function presence(field: string, isThere: boolean): Query {
  const found = field === 'label_key' ? not(equalTo(field, 'keyword', [''])) : exists(field)
  return isThere ? found : not(found)
}

/** Numbers come before texts, and texts before booleans. */
const ranks: Readonly<Record<FieldKind, number>> = { double: 0, keyword: 1, boolean: 2 }

function within(field: string, kind: FieldKind, bound: string, value: Scalar): Query {
  const distance = ranks[kind] - ranks[kindOfValue(value)]
  if (distance === 0) return { range: { [pathOf(field)]: { [bound]: keyOf(value) } } }
  return distance > 0 === bound.startsWith('g') ? exists(field) : none
}
