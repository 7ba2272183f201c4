// Imports a model that Splink saved as a lens; parts without an equivalent are listed as remarks.
import { z } from 'zod'
import type { ComparisonLevelSpec } from './comparison.ts'
import { max_block_records } from './model.ts'
import { parseBlockingRule, parseCondition } from './splink-sql.ts'

const probability = z.number().min(0).max(1).nullish()

const splinkLevel = z.looseObject({
  sql_condition: z.string().max(2_000),
  label_for_charts: z.string().max(1_000).optional(),
  is_null_level: z.boolean().optional(),
  m_probability: probability,
  u_probability: probability,
  tf_adjustment_column: z.string().max(256).nullish(),
})

const splinkRule = z.union([z.string().max(2_000), z.looseObject({ blocking_rule: z.string().max(2_000) })])

/** The part of the output of `save_model_to_json` that is read. */
export const splinkModel = z.looseObject({
  link_type: z.enum(['dedupe_only', 'link_only', 'link_and_dedupe']),
  probability_two_random_records_match: z.number().gt(0).lt(1).nullish(),
  unique_id_column_name: z.string().min(1).max(256).default('unique_id'),
  blocking_rules_to_generate_predictions: z.array(splinkRule).max(1_000).default([]),
  comparisons: z
    .array(z.looseObject({ output_column_name: z.string().max(256), comparison_levels: z.array(splinkLevel).max(200) }))
    .max(1_000),
})

export type SplinkModel = z.infer<typeof splinkModel>
type SplinkLevel = z.infer<typeof splinkLevel>

export type ImportedLens = {
  /** A lens as a document; validate it with `lens` of model.ts. */
  readonly document: Readonly<Record<string, unknown>> & {
    readonly fields: readonly Readonly<Record<string, unknown>>[]
  }
  /** Parts of the model without an equivalent, and their treatment. */
  readonly remarks: readonly string[]
}

export function importSplinkModel(model: SplinkModel, name: string): ImportedLens {
  const remarks: string[] = []
  const fields = model.comparisons.flatMap((comparison) => importComparison(comparison, remarks))
  const dates = new Set(fields.filter(({ type }) => type === 'date').map(({ column }) => column))
  const names = new Map(fields.map(({ column, name: field }) => [column, field]))
  const blocking = model.blocking_rules_to_generate_predictions.flatMap((rule) => {
    const sql = typeof rule === 'string' ? rule : rule.blocking_rule
    const keys = parseBlockingRule(sql, names, dates)
    if (keys) return [keys]
    remarks.push(`blocking rule not imported: ${sql}`)
    return []
  })
  const prior = model.probability_two_random_records_match
  if (prior == null) remarks.push('the model has no probability that two random records match; even odds are used')
  const document = {
    lens: name,
    version: '1.0.0',
    entity_type: 'entity',
    id_field: model.unique_id_column_name,
    ...(prior == null ? {} : { prior }),
    ...(model.link_type === 'link_only' ? { link_only: true } : {}),
    // Splink does not limit the size of a block: take the largest limit that a lens allows.
    ...(blocking.length > 0 ? { blocking, max_block: max_block_records } : {}),
    fields: fields.map(({ column, ...field }) => (column === field.name ? field : { ...field, columns: [column] })),
  }
  return { document, remarks }
}

type LevelProbabilities = { m: number; u: number }
type ImportedLevel = {
  readonly level: ComparisonLevelSpec | 'equal' | 'else'
  readonly q?: number
  readonly probabilities: LevelProbabilities
}

function importComparison(
  { output_column_name, comparison_levels }: SplinkModel['comparisons'][number],
  remarks: string[],
) {
  const nonNull = comparison_levels.filter(({ is_null_level }) => !is_null_level)
  const imported: ImportedLevel[] = []
  let column: string | undefined
  let pending: LevelProbabilities = { m: 0, u: 0 }
  for (const splinkLevel of nonNull) {
    const label = `${output_column_name}: ${splinkLevel.label_for_charts ?? splinkLevel.sql_condition}`
    const condition = parseCondition(splinkLevel.sql_condition)
    const probabilities = readLevelProbabilities(splinkLevel, label, remarks)
    if (!condition || (condition.column !== undefined && column !== undefined && condition.column !== column)) {
      remarks.push(`level not imported, its pairs count in the next one: ${label} (${splinkLevel.sql_condition})`)
      pending = { m: pending.m + probabilities.m, u: pending.u + probabilities.u }
      continue
    }
    column ??= condition.column
    imported.push({ ...condition, probabilities: { m: probabilities.m + pending.m, u: probabilities.u + pending.u } })
    pending = { m: 0, u: 0 }
  }
  const equal = imported.find(({ level }) => level === 'equal')
  const rest = imported.filter(({ level }) => level !== 'equal' && level !== 'else')
  const different = imported.find(({ level }) => level === 'else')
  const first = equal ?? rest[0]
  if (column === undefined || !first || !different) {
    remarks.push(`comparison not imported: ${output_column_name}`)
    return []
  }
  if (!equal)
    remarks.push(`${output_column_name}: equal values count as the best level, since the model has no level for them`)
  const all = [first, ...rest, different]
  const levels = rest.map(({ level }) => level as ComparisonLevelSpec)
  const type = chooseFieldType(levels)
  return [
    {
      name: toFieldName(column),
      column,
      type,
      ...(type === 'date' ? {} : { normalisers: type === 'set' ? ['set'] : [] }),
      comparator: chooseComparator(levels),
      ...(levels.length > 0 ? { levels } : {}),
      ...(rest.some(({ q }) => q !== undefined) ? { q: 1 } : {}),
      m: all.map(({ probabilities }) => clampProbability(probabilities.m)),
      u: all.map(({ probabilities }) => clampProbability(probabilities.u)),
      term_frequency: nonNull.some(({ tf_adjustment_column }) => tf_adjustment_column != null),
    },
  ]
}

const min_probability = 1e-12

function clampProbability(chance: number): number {
  return Math.min(1, Math.max(min_probability, chance))
}

/** Reads the probabilities of a level. As in Splink, a probability that was not learnt is neutral: m equals u. */
function readLevelProbabilities(
  { m_probability: m, u_probability: u }: SplinkLevel,
  label: string,
  remarks: string[],
): LevelProbabilities {
  if (m != null && u != null) return { m, u }
  remarks.push(`not trained, so its weight is 0: ${label}`)
  const probability = m ?? u ?? min_probability
  return { m: probability, u: probability }
}

function chooseComparator(levels: readonly ComparisonLevelSpec[]): string {
  const [first] = levels
  return typeof first === 'object' && first.comparator ? first.comparator : 'exact'
}

function chooseFieldType(levels: readonly ComparisonLevelSpec[]): string {
  const has = (comparator: string) => levels.some((each) => typeof each === 'object' && each.comparator === comparator)
  if (has('date')) return 'date'
  if (has('numeric')) return 'number'
  if (has('set_overlap')) return 'set'
  return levels.some((each) => typeof each === 'object' && each.of === 'user') ? 'email' : 'name'
}

/** Derives a valid field name from a column. */
function toFieldName(column: string): string {
  const plain = column
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+/, '')
    .slice(0, 64)
  return plain === '' ? 'field' : plain
}
