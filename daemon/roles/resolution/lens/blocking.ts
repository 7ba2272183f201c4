// Blocking rules of a lens. They choose the pairs to compare: records that share keys, neighbours in a sorted order, or
// nearest records by their words.
import { z } from 'zod'
import { parseExpression } from './expression.ts'

const blockingKey = z
  .string()
  .max(128)
  .superRefine((text, context) => {
    const expression = parseExpression(text)
    if (typeof expression === 'string') context.addIssue({ code: 'custom', message: expression })
  })
  .describe('a field, or a view of one: `surname`, `surname:prefix(4)`, `surname:phonetic`, `date_of_birth:year`')

const blockingKeys = z.array(blockingKey).min(1).max(8)

const neighbourhoodRule = z.strictObject({
  by: blockingKeys.describe('sort keys of the records, most significant first'),
  window: z
    .int()
    .min(2)
    .max(100)
    .default(5)
    .describe('number of consecutive records that are compared with each other'),
})

const nearestRule = z.strictObject({
  fields: z
    .array(z.string().max(64))
    .min(1)
    .max(14)
    .optional()
    .describe('fields whose words count; default: all text fields'),
  k: z.int().min(1).max(100).default(10).describe('number of most similar records that each record is compared with'),
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

/** Converts a rule from any of its notations to one form. */
export function normaliseBlockingRule(rule: z.infer<typeof blockingRule>): BlockingRule {
  if (typeof rule === 'string') return { kind: 'keys', keys: [rule] }
  if ('keys' in rule && typeof rule.keys !== 'function') return { kind: 'keys', keys: rule.keys }
  if ('sorted_neighbourhood' in rule) return { kind: 'sorted_neighbourhood', ...rule.sorted_neighbourhood }
  if ('tfidf' in rule) return { kind: 'tfidf', fields: rule.tfidf.fields, k: rule.tfidf.k }
  return { kind: 'keys', keys: rule as readonly string[] }
}

/** Lists the fields that a rule names. */
export function listRuleFields(rule: BlockingRule): string[] {
  if (rule.kind === 'tfidf') return [...(rule.fields ?? [])]
  return (rule.kind === 'keys' ? rule.keys : rule.by).map((text) => {
    const expression = parseExpression(text)
    return typeof expression === 'string' ? text : expression.field
  })
}
