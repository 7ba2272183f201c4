// One field of a lens: its columns, the type of its values, their comparison, and the weight of each level.

import { z } from 'zod'
import { requiredText } from '../../../kernel/operation/required-text.ts'
import { type Comparator, type ComparisonLevel, comparators, parseLevels } from './comparison.ts'
import { oneOf } from './known-words.ts'
import { nameOptionFields } from './name-options.ts'
import { type NormaliserName, normaliserNames } from './normalisers.ts'

const fieldTypes = [
  'name',
  'place',
  'date',
  'code',
  'email',
  'number',
  'category',
  'year',
  'text',
  'geo',
  'set',
  'codes',
  'numbers',
] as const

export type FieldType = (typeof fieldTypes)[number]

export const fieldName = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,63}$/, 'must start with a lower-case letter, with only lower-case letters, digits and _')
const columnName = requiredText(256)

/** Labels of all levels of each type, best first. */
const levelLabelsByType: Readonly<Record<Exclude<FieldType, 'geo' | 'set'>, readonly string[]>> = {
  name: listNameLevelLabels(),
  place: listNameLevelLabels(),
  date: [
    'equal',
    'a slip, or day and month swapped',
    'two parts equal',
    'same year, or two slips',
    'one part equal, or next year',
    'different',
  ],
  code: ['equal', 'one slip', 'two slips', 'same first half', 'different'],
  email: ['equal', 'same user, or nearly equal', 'alike', 'user alike', 'different'],
  number: ['equal', 'within 2%', 'within 8%', 'within 20%', 'within 40%', 'within 60%', 'different'],
  category: ['equal', 'different'],
  year: ['equal', 'a year apart', 'different'],
  text: [
    'equal, or cosine 0.95',
    ...Array.from({ length: 9 }, (_, at) => `cosine ${(0.85 - at / 10).toFixed(2)}`),
    'different',
  ],
  codes: ['a code in common', 'a code within the other text', 'different codes', 'nearly equal codes'],
  numbers: ['equal', 'all of one in the other', 'some in common', 'none in common'],
}

function listNameLevelLabels(): string[] {
  return [
    'equal',
    'a slip, or very alike',
    'alike, same sound or short form',
    'somewhat alike',
    'a little alike',
    'different',
  ]
}

const levelSpec = z.union([
  z.number(),
  z.string().max(32),
  z.strictObject({
    comparator: oneOf('comparator', comparators).optional(),
    at: z.union([z.number(), z.string().max(32)]).optional(),
    of: z.string().max(64).optional().describe('view to compare instead of the whole value: `user`, `prefix(4)`'),
  }),
])

/** Which of several values of an entity its golden record has. */
const survivorshipRules = ['most_frequent', 'longest', 'newest', 'oldest', 'first_source'] as const

export type SurvivorshipRule = (typeof survivorshipRules)[number]

const max_levels = 20
const perLevel = (number: z.ZodNumber) =>
  z
    .array(number)
    .min(2)
    .max(max_levels + 4)
    .optional()
const probability = z.number().gt(0).max(1)

export const lensField = z
  .strictObject({
    name: fieldName.describe('name in explanations'),
    type: oneOf('type', fieldTypes).describe('type of the values; it sets the default normalisers and comparison'),
    columns: z
      .array(columnName)
      .min(1)
      .max(64)
      .optional()
      .describe('possible columns of the field; the first that the data has is read. Default: its name'),
    join: z
      .array(columnName)
      .min(2)
      .max(8)
      .optional()
      .describe('columns whose values are joined by commas, such as latitude and longitude'),
    optional: z.boolean().default(false).describe('whether data may lack the column; the field is then empty'),
    normalisers: z
      .array(oneOf('normaliser', normaliserNames))
      .max(8)
      .optional()
      .describe('normalisers of each value, in order; default: the normaliser of the comparator or type'),
    comparator: oneOf('comparator', comparators)
      .optional()
      .describe(
        'comparator of two different values; default: the levels of the type. It reads the first 1,024 characters of each value',
      ),
    levels: z
      .array(levelSpec)
      .max(max_levels)
      .optional()
      .describe(
        'thresholds of the comparator, best first; equal values have a level before them, all others one after',
      ),
    q: z.int().min(1).max(8).default(2).describe('length of the letter sequences that qgram_jaccard compares'),
    ...nameOptionFields,
    weights: perLevel(z.number().min(-100).max(100)).describe(
      'match weight of each level in bits, equal values first, different values last',
    ),
    m: perLevel(probability).describe('probability of each level among pairs of the same entity'),
    u: perLevel(probability).describe('probability of each level among pairs of different entities'),
    term_frequency: z
      .boolean()
      .optional()
      .describe('whether an equal rare value weighs more than an equal common value'),
    survivorship: oneOf('survivorship', survivorshipRules)
      .optional()
      .describe(
        'which value of an entity its golden record has; ties go to the most frequent, then the longest, then that of the first source. Default: most_frequent',
      ),
  })
  .superRefine((field, context) => {
    const issue = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message })
    const comparator = resolveComparator(field)
    if (comparator === undefined && field.levels) issue(['levels'], 'need a comparator; set `comparator`')
    if (comparator) {
      const levels = parseLevels(comparator, field.levels)
      if ('fault' in levels) issue(['levels', levels.at], levels.fault)
    }
    if (field.columns && field.join) issue(['join'], 'replaces columns; set only one of the two')
    for (const option of ['phonetics', 'particles', 'nicknames'] as const) {
      if (field[option] !== undefined && !['name', 'place'].includes(field.type) && comparator !== 'phonetic')
        issue([option], `are of names and places; the field has type ${field.type}`)
    }
    if ((field.m === undefined) !== (field.u === undefined))
      issue([field.m ? 'u' : 'm'], 'is missing; set both m and u, or neither')
    if (field.weights && field.m) issue(['weights'], 'follow from m and u; set either weights, or m and u')
  })

export type LensField = z.infer<typeof lensField>

/** Returns the comparator of a field: explicit, or implied by the type. Undefined for a type with its own levels. */
function resolveComparator({ type, comparator }: Pick<LensField, 'type' | 'comparator'>): Comparator | undefined {
  return comparator ?? (type === 'geo' ? 'geo' : type === 'set' ? 'set_overlap' : undefined)
}

/** Levels between `equal` and `different`; undefined for the built-in levels of a type. */
export function readExplicitLevels({
  type,
  comparator,
  levels,
}: Pick<LensField, 'type' | 'comparator' | 'levels'>): readonly ComparisonLevel[] | undefined {
  const resolved = resolveComparator({ type, comparator })
  if (resolved === undefined) return undefined
  const parsed = parseLevels(resolved, levels)
  return 'fault' in parsed ? [] : parsed
}

/**
 * Lists the label of each level, best first. `isSwapped`: the field is the first of a swappable pair (two more levels).
 */
export function listLevelLabels(
  field: Pick<LensField, 'type' | 'comparator' | 'levels'>,
  isSwapped: boolean,
): string[] {
  const explicit = readExplicitLevels(field)
  const labels = explicit
    ? ['equal', ...explicit.map(({ label }) => label), 'different']
    : [...levelLabelsByType[field.type as keyof typeof levelLabelsByType]]
  return isSwapped ? [...labels, 'swapped, both alike', 'swapped, one alike'] : labels
}

const defaultNormalisers: Readonly<Record<FieldType, NormaliserName>> = {
  name: 'words',
  place: 'words',
  text: 'words',
  category: 'words',
  code: 'code',
  date: 'date',
  email: 'email',
  number: 'number',
  year: 'year',
  geo: 'location',
  set: 'set',
  codes: 'codes',
  numbers: 'numbers',
}

/** Normalisers of comparators that need values in a form of their own. */
const comparatorNormalisers: Partial<Readonly<Record<Comparator, NormaliserName>>> = {
  numeric: 'decimal',
  date: 'date',
  geo: 'location',
  set_overlap: 'set',
}

export function resolveNormalisers({
  type,
  comparator,
  normalisers,
}: Pick<LensField, 'type' | 'comparator' | 'normalisers'>): readonly NormaliserName[] {
  return normalisers ?? [(comparator && comparatorNormalisers[comparator]) ?? defaultNormalisers[type]]
}
