// The keys under which one record is found again: those of the lens's rules, or all views of its fields.
import { fieldsOf, ruleOf } from '../../lens/blocking.ts'
import { expressionOf } from '../../lens/expression.ts'
import type { Lens } from '../../lens/model.ts'
import { viewsOf } from '../block/keys.ts'
import { seeing } from '../text/views.ts'

/** Field to value in normal form. */
export type Values = Readonly<Record<string, string>>

/** Of a record each key that it has, told apart by what it is a key of. */
export type KeysOf = (values: Values) => string[]

/**
 * Rules of neighbours need all records in an order; of the fields that they name, or of all, the views stand in for them. So
 * the records of a rule's blocks are all found, and its neighbours as far as they share a view.
 */
export function lookupKeys(lens: Lens): { readonly keysOf: KeysOf; readonly most: number } {
  const { blocking, fields, max_block } = lens
  if (blocking === 'automatic') return { keysOf: byViews(lens, () => true), most: most_posting }
  const makers = blocking.map(ruleOf).map((rule, at): KeysOf => {
    if (rule.kind === 'keys') return byRule(rule.keys, at)
    const named = new Set(fieldsOf(rule).length > 0 ? fieldsOf(rule) : fields.map(({ name }) => name))
    return byViews(lens, (name) => named.has(name))
  })
  return { keysOf: (values) => [...new Set(makers.flatMap((make) => make(values)))], most: max_block }
}

/** Records that share a key which says nearly nothing. */
const most_posting = 5_000

function byViews({ fields }: Lens, isNamed: (name: string) => boolean): KeysOf {
  const views = fields.flatMap(({ name, type }) => (isNamed(name) ? viewsOf(type).map((of) => ({ name, of })) : []))
  return (values) =>
    views.flatMap(({ name, of: [view, see] }) => {
      const seen = see(values[name] ?? '')
      return seen === '' ? [] : [`${name}:${view}:${seen}`]
    })
}

function byRule(keys: readonly string[], rule: number): KeysOf {
  const parts = keys.map((text) => {
    const read = expressionOf(text)
    if (typeof read === 'string') throw new RangeError(read)
    return { field: read.field, see: read.view ? seeing(read.view) : (value: string) => value }
  })
  return (values) => {
    const seen = parts.map(({ field, see }) => see(values[field] ?? ''))
    return seen.includes('') ? [] : [JSON.stringify([rule, ...seen])]
  }
}
