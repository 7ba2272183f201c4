// A lens defines how records of one kind are matched: the columns of each field, the comparison of values, and the
// weight of each level.

import { z } from 'zod'
import { requiredText } from '../../../kernel/operation/required-text.ts'
import { blocking, listRuleFields, normaliseBlockingRule } from './blocking.ts'
import { fieldName, lensField, listLevelLabels } from './field.ts'
import { describeUnknownWord, oneOf } from './known-words.ts'

export type { FieldType } from './field.ts'

/** All combinations of levels must fit one exact number. */
export const max_fields = 14
export const max_block_records = 20_000

const logOddsBits = z.number().min(-1_000).max(1_000)

/** A likeness is a cosine less the mean of others, and evidence of fields beside it. */
const max_likeness = 100

/** Properties that cut a result, and so belong to the weights with which they were learnt. */
export const cutKeys = ['threshold', 'likeness_threshold', 'clustering'] as const

const lensShape = z.strictObject({
  lens: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,63}$/, 'must start with a lower-case letter, with only lower-case letters, digits and -')
    .describe('name of the lens'),
  version: z
    .string()
    .regex(/^\d+\.\d+\.\d+$/, 'must be a version such as 1.0.0')
    .describe('version of the lens; the content of a version never changes'),
  entity_type: requiredText(64).describe('kind of entity that a cluster represents'),
  told_by: z
    .enum(['fields', 'texts'])
    .default('fields')
    .describe(
      '`fields`: records with one fact in each field, such as people and organisations; `texts`: records described by texts, such as works and products',
    ),
  id_field: requiredText(256).default('id').describe('column of the record id'),
  fields: z.array(lensField).min(1).max(max_fields),
  swapped: z
    .tuple([fieldName, fieldName])
    .optional()
    .describe('two name fields of a person that may be written in either order'),
  text_evidence: z
    .number()
    .min(0)
    .max(1)
    .default(0.02)
    .describe('between two clean sources of texts: weight of the log-odds of the fields beside the cosine'),
  blocking: blocking
    .default('automatic')
    .describe('rules that choose the pairs to compare; default: derived from the fields'),
  max_block: z
    .int()
    .min(2)
    .max(max_block_records)
    .default(1_000)
    .describe('largest block of records with the same keys; a larger block is skipped and reported'),
  link_only: z.boolean().default(false).describe('whether to compare only records of different sources'),
  prior: z
    .number()
    .gt(0)
    .lt(1)
    .optional()
    .describe('probability that a compared pair is a match, before its fields are compared'),
  null_penalty: z
    .number()
    .min(0)
    .max(100)
    .default(0)
    .describe('bits subtracted for a field that one of the two records lacks'),
  threshold: logOddsBits.optional().describe('bits from which a pair is a match; default: derived from the data'),
  likeness_threshold: z
    .number()
    .min(-max_likeness)
    .max(max_likeness)
    .optional()
    .describe('between two clean sources of texts: likeness that a match exceeds; default: derived from the data'),
  source_order: z
    .array(requiredText(256))
    .max(64)
    .optional()
    .describe('sources in the order in which golden records prefer them; others follow in the order of their names'),
  clustering: oneOf('clustering', ['average_link', 'connected_components', 'one_to_one'])
    .optional()
    .describe('how pairs become clusters; default: average_link, and one_to_one between two clean sources'),
  from_labels: z
    .array(z.enum(cutKeys))
    .min(1)
    .max(cutKeys.length)
    .optional()
    .describe('keys that training with labels set for its weights; the next training sets or removes them'),
})

export const lens = lensShape.superRefine((value, context) => {
  const issue = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message })
  const names = value.fields.map(({ name }) => name)
  for (const [at, name] of names.entries()) {
    if (names.indexOf(name) !== at) issue(['fields', at, 'name'], `two fields have the name ${name}; rename one`)
  }
  for (const [at, name] of (value.swapped ?? []).entries()) {
    const field = value.fields.find((candidate) => candidate.name === name)
    if (!field) issue(['swapped', at], describeUnknownWord('field', name, names))
    else if (field.type !== 'name' || field.comparator) {
      issue(
        ['swapped', at],
        `${name} ${field.comparator ? 'has its own comparator' : `has type ${field.type}`}; only fields of type name without one can be swapped`,
      )
    }
  }
  for (const { path, message } of [...findBlockingIssues(value), ...findWeightIssues(value)]) issue(path, message)
})

export type Lens = z.infer<typeof lensShape>

type LensIssue = { readonly path: (string | number)[]; readonly message: string }

function findBlockingIssues({ blocking: rules, fields }: Lens): LensIssue[] {
  if (rules === 'automatic') return []
  const names = fields.map(({ name }) => name)
  return rules.flatMap((value, at) =>
    listRuleFields(normaliseBlockingRule(value))
      .filter((name) => !names.includes(name))
      .map((name) => ({ path: ['blocking', at], message: describeUnknownWord('field', name, names) })),
  )
}

function findWeightIssues(value: Lens): LensIssue[] {
  const { fields, swapped } = value
  const faults: LensIssue[] = []
  const weighted = fields.filter(({ weights, m }) => weights ?? m)
  if (weighted.length > 0 && weighted.length < fields.length) {
    const at = fields.findIndex((field) => !weighted.includes(field))
    faults.push({
      path: ['fields', at],
      message: 'has no weights, but another field has; set weights, or m and u, for every field or for none',
    })
  }
  for (const [at, field] of fields.entries()) {
    const labels = listLevelLabels(field, field.name === swapped?.[0])
    for (const list of ['weights', 'm', 'u'] as const) {
      const count = field[list]?.length
      if (count === undefined || count === labels.length) continue
      const message = `has ${count} numbers for ${labels.length} levels; set one for each level: ${labels.join('; ')}`
      faults.push({ path: ['fields', at, list], message })
    }
  }
  const outcomes = fields.reduce(
    (product, field) => product * (listLevelLabels(field, field.name === swapped?.[0]).length + 1),
    1,
  )
  if (outcomes > Number.MAX_SAFE_INTEGER) {
    faults.push({ path: ['fields'], message: 'have too many combinations of levels; remove fields or levels' })
  }
  return faults
}

/** Whether the lens sets the weight of every level, so that nothing is learnt. */
export function hasFixedWeights({ fields }: Pick<Lens, 'fields'>): boolean {
  return fields.every(({ weights, m }) => weights !== undefined || m !== undefined)
}
