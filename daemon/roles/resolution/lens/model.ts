// A lens says how records of one kind are seen: which columns mean what, and how alike values are told apart.
import { z } from 'zod'

const fieldTypes = ['name', 'place', 'date', 'code', 'email', 'number', 'category', 'year', 'text'] as const

const fieldName = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'a name of small letters, digits and _')

const field = z.strictObject({
  name: fieldName.describe('what explanations call it'),
  type: z.enum(fieldTypes).describe('what its values are; it decides how they are written alike and compared'),
  columns: z
    .array(z.string().min(1).max(256))
    .min(1)
    .max(64)
    .optional()
    .describe('columns that may hold it, the first that is there counts; its name unless said'),
  optional: z.boolean().default(false).describe('data without such a column is seen without this field'),
})

export type FieldType = (typeof fieldTypes)[number]

/** Outcomes of all fields together must fit one number that is exact. */
const most_fields = 14

export const lens = z
  .strictObject({
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
    fields: z.array(field).min(1).max(most_fields),
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
  })
  .superRefine((given, context) => {
    const names = given.fields.map(({ name }) => name)
    for (const [at, name] of names.entries()) {
      if (names.indexOf(name) !== at)
        context.addIssue({ code: 'custom', path: ['fields', at, 'name'], message: `two fields are called ${name}` })
    }
    for (const [at, name] of (given.swapped ?? []).entries()) {
      const of = given.fields.find((each) => each.name === name)
      if (of?.type === 'name') continue
      const message = of ? `${name} is a ${of.type}: only names are swapped` : `no field is called ${name}`
      context.addIssue({ code: 'custom', path: ['swapped', at], message })
    }
  })

export type Lens = z.infer<typeof lens>
