// Levels defined by a lens: measures with thresholds; the best level that a pair reaches is its level.
import type { ComparisonLevel } from '../../lens/comparison.ts'
import type { FieldView } from '../../lens/expression.ts'
import type { PhoneticName } from '../../lens/phonetics.ts'
import { type Dictionary, type DictionaryColumn, mapColumn } from '../text/dictionary.ts'
import { readLatinForms } from '../text/latin-form.ts'
import { createViewFunction } from '../text/views.ts'
import { createMeasure, type MeasureOptions, type ValueMeasure } from './measures.ts'
import type { LevelClassifier } from './type-levels.ts'

/** Consecutive levels of one measure, which is evaluated once for all of them. */
type MeasureStep = { readonly measure: ValueMeasure; readonly least: readonly number[] }

export function createLensLevels(
  column: DictionaryColumn,
  levels: readonly ComparisonLevel[],
  options: MeasureOptions,
): LevelClassifier {
  const steps = buildSteps(column, levels, options)
  const count = levels.length + 2
  const [only] = steps
  if (!only) return { count, levelOf: () => 1 }
  if (steps.length === 1) return { count, levelOf: (a, b) => 1 + findThreshold(only, a, b) }
  return {
    count,
    levelOf(a, b) {
      let level = 1
      for (let at = 0; at < steps.length; at++) {
        const step = steps[at]!
        const index = findThreshold(step, a, b)
        level += index
        if (index < step.least.length) return level
      }
      return level
    },
  }
}

/** Finds the index of the first threshold that the pair reaches; the number of thresholds if it reaches none. */
function findThreshold({ measure, least }: MeasureStep, a: number, b: number): number {
  const similarity = measure(a, b)
  let index = 0
  while (index < least.length && !(similarity >= least[index]!)) index++
  return index
}

function buildSteps(
  column: DictionaryColumn,
  levels: readonly ComparisonLevel[],
  options: MeasureOptions,
): MeasureStep[] {
  const steps: { key: string; level: ComparisonLevel; least: number[] }[] = []
  for (const level of levels) {
    const key = JSON.stringify([level.measure, level.view])
    const last = steps.at(-1)
    if (last?.key === key) last.least.push(level.least)
    else steps.push({ key, level, least: [level.least] })
  }
  return steps.map(({ level, least }) => ({ measure: createViewMeasure(column, level, least.at(-1)!, options), least }))
}

function createViewMeasure(
  { dictionary }: DictionaryColumn,
  { measure, view }: ComparisonLevel,
  least: number,
  options: MeasureOptions,
): ValueMeasure {
  if (!view) return createMeasure(measure, dictionary, least, options)
  const { codes, dictionary: parts } = applyView(dictionary, view, options.phonetics)
  const inner = createMeasure(measure, parts, least, { ...options, heard: latinDictionary(parts) })
  return (a, b) => {
    const [left, right] = [codes[a]!, codes[b]!]
    if (left < 0 || right < 0) return Number.NaN
    return left === right ? Number.POSITIVE_INFINITY : inner(left, right)
  }
}

function latinDictionary(dictionary: Dictionary): Dictionary {
  return readLatinForms(dictionary)?.latin ?? dictionary
}

/** Applies a view to each value of the dictionary. */
function applyView(dictionary: Dictionary, view: FieldView, phonetics: readonly PhoneticName[]): DictionaryColumn {
  const codes = Int32Array.from({ length: dictionary.size }, (_, code) => code)
  return mapColumn({ codes, dictionary }, createViewFunction(view, phonetics))
}
