// The keys under which one record is found again: those of the lens's rules, or all views of its fields.
import { listRuleFields, normaliseBlockingRule } from '../../lens/blocking.ts'
import { parseExpression } from '../../lens/expression.ts'
import type { Lens } from '../../lens/model.ts'
import { listKeyViews } from '../block/keys.ts'
import { createViewFunction } from '../text/views.ts'

/** Field to value in normal form. */
export type FieldValues = Readonly<Record<string, string>>

/** Of a record each key that it has, told apart by what it is a key of. */
export type KeyExtractor = (values: FieldValues) => string[]

/**
 * Rules of neighbours need all records in an order; of the fields that they name, or of all, the views stand in for them. So
 * the records of a rule's blocks are all found, and its neighbours as far as they share a view.
 */
export function createLookupKeys(lens: Lens): { readonly keysOf: KeyExtractor; readonly most: number } {
  const { blocking, fields, max_block } = lens
  if (blocking === 'automatic') return { keysOf: createViewKeyExtractor(lens, () => true), most: max_posting_records }
  const makers = blocking.map(normaliseBlockingRule).map((rule, at): KeyExtractor => {
    if (rule.kind === 'keys') return createRuleKeyExtractor(rule.keys, at)
    const named = new Set(listRuleFields(rule).length > 0 ? listRuleFields(rule) : fields.map(({ name }) => name))
    return createViewKeyExtractor(lens, (name) => named.has(name))
  })
  return { keysOf: (values) => [...new Set(makers.flatMap((make) => make(values)))], most: max_block }
}

/** Records that share a key which says nearly nothing. */
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
