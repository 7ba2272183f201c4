// Lookup keys of a record: the keys of the blocking rules of a lens, or all views of its fields.
import { listRuleFields, normaliseBlockingRule } from '../../lens/blocking.ts'
import { parseExpression } from '../../lens/expression.ts'
import type { Lens } from '../../lens/model.ts'
import { readNameOptions } from '../../lens/name-options.ts'
import { listKeyViews } from '../block/keys.ts'
import { createViewFunction } from '../text/views.ts'

/** Normalised value of each field. */
export type FieldValues = Readonly<Record<string, string>>

/** Extracts the keys of a record, each prefixed by its kind. */
export type KeyExtractor = (values: FieldValues) => string[]

/**
 * Creates the keys of a lens. Neighbourhood rules need all records in an order, so views of their fields (or of all
 * fields) replace them. A lookup therefore finds all records of a rule's blocks, and neighbours only if they share a
 * view.
 */
export function createLookupKeys(lens: Lens): { readonly keysOf: KeyExtractor; readonly max_posting: number } {
  const { blocking, fields, max_block } = lens
  if (blocking === 'automatic')
    return { keysOf: createViewKeyExtractor(lens, () => true), max_posting: max_posting_records }
  const extractors = blocking.map(normaliseBlockingRule).map((rule, at): KeyExtractor => {
    if (rule.kind === 'keys') return createRuleKeyExtractor(lens, rule.keys, at)
    const named = new Set(listRuleFields(rule).length > 0 ? listRuleFields(rule) : fields.map(({ name }) => name))
    return createViewKeyExtractor(lens, (name) => named.has(name))
  })
  return { keysOf: (values) => [...new Set(extractors.flatMap((extract) => extract(values)))], max_posting: max_block }
}

/** Formats the rule or the view of a key, without its value. */
export function describeLookupKey({ blocking }: Lens, key: string): string {
  const [field, view] = key.split(':')
  if (!key.startsWith('[') || blocking === 'automatic') return `${field}: ${view}`
  const [at] = JSON.parse(key) as [number]
  const rule = normaliseBlockingRule(blocking[at]!)
  return rule.kind === 'keys' ? rule.keys.join(' + ') : ''
}

/** Number of records above which a shared key carries almost no evidence. */
const max_posting_records = 5_000

function createViewKeyExtractor({ fields }: Lens, isNamed: (name: string) => boolean): KeyExtractor {
  const views = fields.flatMap((field) => {
    const { name, type } = field
    if (!isNamed(name)) return []
    return listKeyViews(type, readNameOptions(field)).map(([view, applyView]) => ({ name, view, applyView }))
  })
  return (values) =>
    views.flatMap(({ name, view, applyView }) => {
      const key = applyView(values[name] ?? '')
      return key === '' ? [] : [`${name}:${view}:${key}`]
    })
}

function createRuleKeyExtractor({ fields }: Lens, keys: readonly string[], rule: number): KeyExtractor {
  const parts = keys.map((text) => {
    const expression = parseExpression(text)
    if (typeof expression === 'string') throw new RangeError(expression)
    const { field, view } = expression
    const { phonetics } = fields.find(({ name }) => name === field) ?? {}
    return { field, applyView: view ? createViewFunction(view, phonetics) : (value: string) => value }
  })
  return (values) => {
    const keyParts = parts.map(({ field, applyView }) => applyView(values[field] ?? ''))
    return keyParts.includes('') ? [] : [JSON.stringify([rule, ...keyParts])]
  }
}
