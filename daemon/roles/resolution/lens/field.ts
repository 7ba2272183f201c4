// One field of a lens: its columns, the type of its values, how values are compared, and the weight of each level.
import { z } from 'zod'
import { type Comparator, type ComparisonLevel, comparators, parseLevels } from './comparison.ts'
import { oneOf } from './known-words.ts'
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
] as const

export type FieldType = (typeof fieldTypes)[number]

export const fieldName = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'a name of small letters, digits and _')
const columnName = z.string().min(1).max(256)

/** Levels that a type brings along, best first, the first and the last with them. */
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
    of: z.string().max(64).optional().describe('a view that is compared in place of the whole: `user`, `prefix(4)`'),
  }),
])

const max_levels = 20
const perLevel = (each: z.ZodNumber) =>
  z
    .array(each)
    .min(2)
    .max(max_levels + 4)
    .optional()
const probability = z.number().gt(0).max(1)

export const lensField = z
  .strictObject({
    name: fieldName.describe('what explanations call it'),
    type: oneOf('type', fieldTypes).describe(
      'what its values are; it decides how they are written alike and compared, unless more is said',
    ),
    columns: z
      .array(columnName)
      .min(1)
      .max(64)
      .optional()
      .describe('columns that may hold it, the first that is there counts; its name unless said'),
    join: z
      .array(columnName)
      .min(2)
      .max(8)
      .optional()
      .describe('columns whose values make one together, a comma between them: latitude and longitude'),
    optional: z.boolean().default(false).describe('data without such a column is seen without this field'),
    normalisers: z
      .array(oneOf('normaliser', normaliserNames))
      .max(8)
      .optional()
      .describe('what is done to each value, in this order; what its type does unless said'),
    comparator: oneOf('comparator', comparators)
      .optional()
      .describe('how two values that differ are compared; by the levels of its type unless said'),
    levels: z
      .array(levelSpec)
      .max(max_levels)
      .optional()
      .describe('thresholds of the comparator, best first; equal values come before, all else after them'),
    q: z.int().min(1).max(8).default(2).describe('letters in a row that qgram_jaccard takes as one'),
    weights: perLevel(z.number().min(-100).max(100)).describe(
      'bits for each level, for equal values first, all else last',
    ),
    m: perLevel(probability).describe('how often each level comes among records that are one'),
    u: perLevel(probability).describe('how often each level comes among records that are not'),
    term_frequency: z.boolean().optional().describe('whether an equal rare value says more than an equal common one'),
  })
  .superRefine((given, context) => {
    const issue = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message })
    const comparator = resolveComparator(given)
    if (comparator === undefined && given.levels) issue(['levels'], 'are those of a comparator; say which')
    if (comparator) {
      const levels = parseLevels(comparator, given.levels)
      if ('fault' in levels) issue(['levels', levels.at], levels.fault)
    }
    if (given.columns && given.join) issue(['join'], 'stands in place of columns; say one of them')
    if ((given.m === undefined) !== (given.u === undefined)) issue([given.m ? 'u' : 'm'], 'm and u come together')
    if (given.weights && given.m) issue(['weights'], 'are m over u; say one of them')
  })

export type LensField = z.infer<typeof lensField>

/** What tells levels apart: a comparator that is given, or one that is the whole of a type; else the type's own. */
export function resolveComparator({
  type,
  comparator,
}: Pick<LensField, 'type' | 'comparator'>): Comparator | undefined {
  return comparator ?? (type === 'geo' ? 'geo' : type === 'set' ? 'set_overlap' : undefined)
}

/** Levels between equal and all else; undefined where they are the type's own. */
export function readExplicitLevels({
  type,
  comparator,
  levels,
}: Pick<LensField, 'type' | 'comparator' | 'levels'>): readonly ComparisonLevel[] | undefined {
  const by = resolveComparator({ type, comparator })
  if (by === undefined) return undefined
  const given = parseLevels(by, levels)
  return 'fault' in given ? [] : given
}

/** What each level is called, best first; two more where the field is the first of two that may be swapped. */
export function listLevelLabels(of: Pick<LensField, 'type' | 'comparator' | 'levels'>, isSwapped: boolean): string[] {
  const given = readExplicitLevels(of)
  const labels = given
    ? ['equal', ...given.map(({ label }) => label), 'different']
    : [...levelLabelsByType[of.type as keyof typeof levelLabelsByType]]
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
}

/** A comparator of values of a kind needs them in its own form. */
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
