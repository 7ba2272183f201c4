// Filters of the store contract as queries of the cluster, with the answers that SQLite gives.
import type { Filter, FilterCondition, ReadScope, Scalar } from '../../../../daemon/kernel/store/store.ts'
import { type FieldKind, indexKey, kindOfValue } from '../indexes/field-kind.ts'
import type { OpensearchTable } from '../indexes/table.ts'
import { readScopeQueries } from './read-scope.ts'

export type SearchQuery = Readonly<Record<string, unknown>>

const match_all: SearchQuery = { match_all: {} }
const match_none: SearchQuery = { match_none: {} }

/** The kind of an index field. @throws when the field is not an index: a mistake of the program, not of a caller. */
export function requireFieldKind(table: OpensearchTable, field: string): FieldKind {
  const kind = table.kinds.get(field)
  if (!kind) throw new Error(`${field} is not an index of ${table.name}`)
  return kind
}

/** All conditions joined. */
export function buildQuery(table: OpensearchTable, filter: Filter = {}, scope?: ReadScope): SearchQuery {
  const conditions = scope ? { ...filter, tenant_id: scope.viewer.tenant_id } : filter
  const clauses = Object.entries(conditions).map(([field, condition]) =>
    conditionQuery(field, requireFieldKind(table, field), condition),
  )
  return joinQueries(scope ? [...clauses, ...readScopeQueries(scope)] : clauses)
}

export function joinQueries(queries: readonly SearchQuery[]): SearchQuery {
  return queries.length === 0 ? match_all : { bool: { filter: queries } }
}

export function negateQuery(query: SearchQuery): SearchQuery {
  return { bool: { must_not: [query] } }
}

export function fieldPath(field: string): string {
  return `fields.${field}`
}

export function fieldExists(field: string): SearchQuery {
  return { exists: { field: fieldPath(field) } }
}

function conditionQuery(field: string, kind: FieldKind, condition: FilterCondition): SearchQuery {
  if (typeof condition !== 'object') return equalsQuery(field, kind, [condition])
  if ('in' in condition) return equalsQuery(field, kind, condition.in)
  if ('exists' in condition) return presenceQuery(field, condition.exists)
  const bounds = Object.entries(condition).map(([bound, value]) => boundQuery(field, kind, bound, value))
  return bounds.length === 0 ? match_all : joinQueries(bounds)
}

/** A value of another kind matches no document. */
function equalsQuery(field: string, kind: FieldKind, values: readonly Scalar[]): SearchQuery {
  const keys = values.filter((value) => kindOfValue(value) === kind).map(indexKey)
  return keys.length === 0 ? match_none : { terms: { [fieldPath(field)]: keys } }
}

function presenceQuery(field: string, isThere: boolean): SearchQuery {
  const found = field === 'label_key' ? negateQuery(equalsQuery(field, 'keyword', [''])) : fieldExists(field)
  return isThere ? found : negateQuery(found)
}

/** Numbers come before texts, and texts before booleans. */
const kindRanks: Readonly<Record<FieldKind, number>> = { double: 0, keyword: 1, boolean: 2 }

function boundQuery(field: string, kind: FieldKind, bound: string, value: Scalar): SearchQuery {
  const distance = kindRanks[kind] - kindRanks[kindOfValue(value)]
  if (distance === 0) return { range: { [fieldPath(field)]: { [bound]: indexKey(value) } } }
  return distance > 0 === bound.startsWith('g') ? fieldExists(field) : match_none
}
