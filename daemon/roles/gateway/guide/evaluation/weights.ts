// Weights of the evaluator, as settings give them: all in one list, and each by itself, which goes first.
import * as z from 'zod'
import type { EvaluatorWeights } from './rules.ts'

export const weightNames = ['l3_error', 'schema_mismatch', 'user_feedback', 'confidence'] as const
export type WeightName = (typeof weightNames)[number]

const max_weight = 100

/** `name=number`. */
export const weightEntry = z.string().refine(
  (entry) => {
    const { name, value } = readEntry(entry)
    return weightNames.some((each) => each === name) && value >= 0 && value <= max_weight
  },
  { error: `must be <name>=<0 to ${max_weight}>, with one of the names ${weightNames.join(', ')}` },
)

export function nameOfWeight(entry: string): string {
  return readEntry(entry).name
}

function readEntry(entry: string): { readonly name: string; readonly value: number } {
  const [name = '', text = '', ...more] = entry.split('=').map((part) => part.trim())
  const isNumber = /^\d{1,3}(?:\.\d{1,12})?$/.test(text) && more.length === 0
  return { name, value: isNumber ? Number(text) : Number.NaN }
}

type WeightSettings = { readonly evaluator_weights: readonly string[] } & {
  readonly [Name in WeightName as `evaluator_weight_${Name}`]?: number | undefined
}

/** Of document 002: layer 3 by 3.0, users by 1.5, and the confidence of the artifact by 0.5. */
const defaults: Readonly<Record<WeightName, number>> = {
  l3_error: 3,
  schema_mismatch: 3,
  user_feedback: 1.5,
  confidence: 0.5,
}

export const defaultWeights: readonly string[] = weightNames.map((name) => `${name}=${defaults[name]}`)

export function readWeights(settings: WeightSettings): EvaluatorWeights {
  const listed = Object.fromEntries(settings.evaluator_weights.map(readEntry).map(({ name, value }) => [name, value]))
  const weightOf = (name: WeightName) => settings[`evaluator_weight_${name}`] ?? listed[name] ?? defaults[name]
  return {
    l3_error: weightOf('l3_error'),
    l3_schema_mismatch: weightOf('schema_mismatch'),
    user_feedback: weightOf('user_feedback'),
    evaluator_confidence: weightOf('confidence'),
  }
}
