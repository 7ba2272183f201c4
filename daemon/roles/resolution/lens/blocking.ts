// How a lens names the pairs that are worth comparing: records that share keys, neighbours in an order, the nearest by their words.
import { z } from 'zod'
import { parseExpression } from './expression.ts'

const blockingKey = z
  .string()
  .max(128)
  .superRefine((text, context) => {
    const read = parseExpression(text)
    if (typeof read === 'string') context.addIssue({ code: 'custom', message: read })
  })
  .describe('a field, or a view of one: `surname`, `surname:prefix(4)`, `surname:phonetic`, `date_of_birth:year`')

const blockingKeys = z.array(blockingKey).min(1).max(8)

const neighbourhoodRule = z.strictObject({
  by: blockingKeys.describe('what records are ordered by, the first before the second'),
  window: z.int().min(2).max(100).default(5).describe('so many records in a row are compared with each other'),
})

const nearestRule = z.strictObject({
  fields: z.array(z.string().max(64)).min(1).max(14).optional().describe('whose words count; all texts unless said'),
  k: z.int().min(1).max(100).default(10).describe('so many of the most alike are compared with each record'),
})

const blockingRule = z.union([
  blockingKey,
  blockingKeys,
  z.strictObject({ keys: blockingKeys }),
  z.strictObject({ sorted_neighbourhood: neighbourhoodRule }),
  z.strictObject({ tfidf: nearestRule }),
])

export const blocking = z.union([z.literal('automatic'), z.array(blockingRule).min(1).max(32)])

export type BlockingRule =
  | { readonly kind: 'keys'; readonly keys: readonly string[] }
  | { readonly kind: 'sorted_neighbourhood'; readonly by: readonly string[]; readonly window: number }
  | { readonly kind: 'tfidf'; readonly fields: readonly string[] | undefined; readonly k: number }

/** A rule in its one form. */
export function normaliseBlockingRule(rule: z.infer<typeof blockingRule>): BlockingRule {
  if (typeof rule === 'string') return { kind: 'keys', keys: [rule] }
  if ('keys' in rule && typeof rule.keys !== 'function') return { kind: 'keys', keys: rule.keys }
  if ('sorted_neighbourhood' in rule) return { kind: 'sorted_neighbourhood', ...rule.sorted_neighbourhood }
  if ('tfidf' in rule) return { kind: 'tfidf', fields: rule.tfidf.fields, k: rule.tfidf.k }
  return { kind: 'keys', keys: rule as readonly string[] }
}

/** The fields that a rule names. */
export function listRuleFields(of: BlockingRule): string[] {
  if (of.kind === 'tfidf') return [...(of.fields ?? [])]
  return (of.kind === 'keys' ? of.keys : of.by).map((text) => {
    const read = parseExpression(text)
    return typeof read === 'string' ? text : read.field
  })
}
