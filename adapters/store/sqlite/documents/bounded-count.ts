// Counts of lists: the cost ends at a bound, however many documents there are.
import type { DocumentTotal, Filter, FilterCondition, ReadScope } from '../../../../daemon/kernel/store/store.ts'
import { isFixedColumn } from './columns.ts'
import { conditionClause, joinClauses, requireColumn } from './filter.ts'
import { buildScopedWhere } from './read-scope.ts'
import type { SqliteTable } from './table.ts'

/** Share of the bound where a condition must be read from the documents themselves, some 10 µs each. */
const share_of_reads = 0.1

/**
 * Visits a bounded number of documents that the viewer may see, in one range of one index, and counts those that match.
 * It passes over hidden ones within the index: the answer depends on visible documents alone.
 */
export function countUpTo(table: SqliteTable, most: number, filter: Filter = {}, scope?: ReadScope): DocumentTotal {
  const { range, rest, hint } = chooseRange(table, filter)
  const where = buildScopedWhere(table, range, scope)
  const match = joinClauses(
    Object.entries(rest).map(([field, condition]) => conditionClause(requireColumn(table, field), condition)),
  )
  const bound = match.sql === '1' ? most : Math.ceil(most * share_of_reads)
  const visits = `SELECT (${match.sql}) AS matches FROM ${table.name} ${hint} WHERE ${where.sql} LIMIT ?`
  const { visited, total } = table
    .prepare(`SELECT count(*) AS visited, count(*) FILTER (WHERE matches) AS total FROM (${visits})`)
    .get(...match.bind, ...where.bind, bound + 1) as { visited: number; total: number }
  return visited > bound ? { total: Math.min(total, bound), total_is: 'at_least' } : { total, total_is: 'exact' }
}

/** A filter in two parts: conditions that bound a range of an index, and the rest, which is judged for each document. */
type IndexRange = { readonly range: Filter; readonly rest: Filter; readonly hint: string }

/** The index whose first fields have the most single values; the first declared of equals. Stored data has no say. */
function chooseRange({ orders }: SqliteTable, filter: Filter): IndexRange {
  const alone = Object.keys(filter)
    .filter((field) => !isFixedColumn(field))
    .map((field) => ({ fields: [field], hint: '' }))
  const declared = orders.map(({ fields, index }) => ({ fields, hint: `INDEXED BY ${index}` }))
  let best: IndexRange & { score: number } = { ...splitFilter(filter, []), hint: '', score: 0 }
  for (const { fields, hint } of [...declared, ...alone]) {
    const bounded = leadingConditions(fields, filter)
    const score = bounded.reduce((sum, [, condition]) => sum + (isOneValue(condition) ? 2 : 1), 0)
    if (score > best.score)
      best = {
        ...splitFilter(
          filter,
          bounded.map(([field]) => field),
        ),
        hint,
        score,
      }
  }
  return best
}

/** Conditions that one range of an index fulfils: single values, and then at most one of another kind. */
function leadingConditions(fields: readonly string[], filter: Filter): (readonly [string, FilterCondition])[] {
  const leading: (readonly [string, FilterCondition])[] = []
  for (const field of fields) {
    const condition = filter[field]
    if (condition === undefined) break
    leading.push([field, condition])
    if (!isOneValue(condition)) break
  }
  return leading
}

function isOneValue(condition: FilterCondition): boolean {
  return typeof condition !== 'object'
}

function splitFilter(filter: Filter, fields: readonly string[]): { range: Filter; rest: Filter } {
  const isInRange = ([field]: readonly [string, unknown]) => fields.includes(field) || isFixedColumn(field)
  const entries = Object.entries(filter)
  return {
    range: Object.fromEntries(entries.filter(isInRange)),
    rest: Object.fromEntries(entries.filter((entry) => !isInRange(entry))),
  }
}
