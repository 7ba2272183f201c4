// Lookup keys of a record: those of the blocking rules of a lens, or all views of its fields.
import { listRuleFields, normaliseBlockingRule } from '../../lens/blocking.ts'
import { parseExpression } from '../../lens/expression.ts'
import type { Lens } from '../../lens/model.ts'
import { listKeyViews } from '../block/keys.ts'
import { createViewFunction } from '../text/views.ts'

/** Field to value in normal form. */
export type FieldValues = Readonly<Record<string, string>>

/** Keys of a record, each prefixed by its kind. */
export type KeyExtractor = (values: FieldValues) => string[]

/**
 * Neighbourhood rules need all records in an order; here the views of the fields that they name (or of all) replace
 * them. A lookup therefore finds all records of a rule's blocks, and neighbours only if they share a view.
 */
export function createLookupKeys(lens: Lens): { readonly keysOf: KeyExtractor; readonly max_posting: number } {
  const { blocking, fields, max_block } = lens
  if (blocking === 'automatic')
    return { keysOf: createViewKeyExtractor(lens, () => true), max_posting: max_posting_records }
  const makers = blocking.map(normaliseBlockingRule).map((rule, at): KeyExtractor => {
    if (rule.kind === 'keys') return createRuleKeyExtractor(rule.keys, at)
    const named = new Set(listRuleFields(rule).length > 0 ? listRuleFields(rule) : fields.map(({ name }) => name))
    return createViewKeyExtractor(lens, (name) => named.has(name))
  })
  return { keysOf: (values) => [...new Set(makers.flatMap((make) => make(values)))], max_posting: max_block }
}

/** Records above which a shared key carries almost no evidence. */
const max_posting_records = 5_000

function createViewKeyExtractor({ fields }: Lens, isNamed: (name: string) => boolean): KeyExtractor {
  const views = fields.flatMap(({ name, type }) =>
    isNamed(name) ? listKeyViews(type).map((of) => ({ name, of })) : [],
  )
  return (values) =>
    views.flatMap(({ name, of: [view, see] }) => {
      const seen = see(values[name] ?? '')
      return seen === '' ? [] : [`${name}:${view}:${seen}`]
    })
}

function createRuleKeyExtractor(keys: readonly string[], rule: number): KeyExtractor {
  const parts = keys.map((text) => {
    const read = parseExpression(text)
    if (typeof read === 'string') throw new RangeError(read)
    return { field: read.field, see: read.view ? createViewFunction(read.view) : (value: string) => value }
  })
  return (values) => {
    const seen = parts.map(({ field, see }) => see(values[field] ?? ''))
    return seen.includes('') ? [] : [JSON.stringify([rule, ...seen])]
  }
}
