// A lens defines how records of one kind are read: which columns map to which fields, how values are compared, and the
// weight of each level.
import { z } from 'zod'
import { blocking, listRuleFields, normaliseBlockingRule } from './blocking.ts'
import { fieldName, lensField, listLevelLabels } from './field.ts'
import { describeUnknownWord, oneOf } from './known-words.ts'

export type { FieldType } from './field.ts'

/** Outcomes of all fields together must fit one number that is exact. */
export const max_fields = 14
export const max_block_records = 20_000

const logOddsBits = z.number().min(-1_000).max(1_000)

const lensShape = z.strictObject({
  lens: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,63}$/, 'a name of small letters, digits and -')
    .describe('its name'),
  version: z
    .string()
    .regex(/^\d+\.\d+\.\d+$/, 'a version as 1.0.0')
    .describe('what it says never changes within a version'),
  entity_type: z.string().min(1).max(64).describe('what a cluster is'),
  told_by: z
    .enum(['fields', 'texts'])
    .default('fields')
    .describe(
      '`fields`: people, organisations, whatever has fields that say one thing each; `texts`: works and products',
    ),
  id_field: z.string().min(1).max(256).default('id').describe('the column that names a record'),
  fields: z.array(lensField).min(1).max(max_fields),
  swapped: z
    .tuple([fieldName, fieldName])
    .optional()
    .describe('two names of one person that people write in either order'),
  text_evidence: z
    .number()
    .min(0)
    .max(1)
    .default(0.02)
    .describe('between two clean sources of texts: how much the log-odds of the fields count beside the cosine'),
  blocking: blocking
    .default('automatic')
    .describe('which pairs are compared; found by the fields themselves unless said'),
  max_block: z
    .int()
    .min(2)
    .max(max_block_records)
    .default(1_000)
    .describe('records that share the keys of a rule; a larger block is left out and told'),
  link_only: z.boolean().default(false).describe('whether records of one source are never compared with each other'),
  prior: z.number().gt(0).lt(1).optional().describe('how likely a compared pair is one, before its fields are seen'),
  null_penalty: z.number().min(0).max(100).default(0).describe('bits that a field costs which one of the two lacks'),
  threshold: logOddsBits.optional().describe('bits above which records are one; found from the data unless said'),
  clustering: oneOf('clustering', ['average_link', 'connected_components', 'one_to_one'])
    .optional()
    .describe('how pairs become clusters; by average link unless said, and one to one between two clean sources'),
})

export const lens = lensShape.superRefine((value, context) => {
  const issue = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message })
  const names = value.fields.map(({ name }) => name)
  for (const [at, name] of names.entries()) {
    if (names.indexOf(name) !== at) issue(['fields', at, 'name'], `two fields are called ${name}`)
  }
  for (const [at, name] of (value.swapped ?? []).entries()) {
    const of = value.fields.find((each) => each.name === name)
    if (!of) issue(['swapped', at], describeUnknownWord('field', name, names))
    else if (of.type !== 'name' || of.comparator) {
      issue(
        ['swapped', at],
        `${name} is ${of.comparator ? 'compared by its own comparator' : `a ${of.type}`}: only names are swapped`,
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
  const weighed = fields.filter((each) => each.weights ?? each.m)
  if (weighed.length > 0 && weighed.length < fields.length) {
    const at = fields.findIndex((each) => !weighed.includes(each))
    faults.push({
      path: ['fields', at],
      message: 'has no weights; either every field has them, or m and u, or none has',
    })
  }
  for (const [at, each] of fields.entries()) {
    const labels = listLevelLabels(each, each.name === swapped?.[0])
    for (const list of ['weights', 'm', 'u'] as const) {
      const count = each[list]?.length
      if (count === undefined || count === labels.length) continue
      const message = `has ${count} numbers for ${labels.length} levels: ${labels.join('; ')}`
      faults.push({ path: ['fields', at, list], message })
    }
  }
  const outcomes = fields.reduce((all, each) => all * (listLevelLabels(each, each.name === swapped?.[0]).length + 1), 1)
  if (outcomes > Number.MAX_SAFE_INTEGER) {
    faults.push({ path: ['fields'], message: 'have more levels together than can be told apart; leave some out' })
  }
  return faults
}

/** Whether nothing is to be learnt: every level has its worth. */
export function hasFixedWeights({ fields }: Pick<Lens, 'fields'>): boolean {
  return fields.every((each) => each.weights !== undefined || each.m !== undefined)
}
