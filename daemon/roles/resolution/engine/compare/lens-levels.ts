// Levels defined by a lens: measures with thresholds; the best level that a pair reaches is its level.
import type { ComparisonLevel } from '../../lens/comparison.ts'
import type { FieldView } from '../../lens/expression.ts'
import { type Dictionary, type DictionaryColumn, mapColumn } from '../text/dictionary.ts'
import { createViewFunction } from '../text/views.ts'
import { createMeasure, type ValueMeasure } from './measures.ts'
import type { LevelClassifier } from './type-levels.ts'

/** Consecutive levels of one measure, which is evaluated once for all of them. */
type MeasureStep = { readonly measure: ValueMeasure; readonly least: readonly number[] }

export function createLensLevels(
  column: DictionaryColumn,
  levels: readonly ComparisonLevel[],
  q: number,
): LevelClassifier {
  const steps = buildSteps(column, levels, q)
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
        const place = findThreshold(step, a, b)
        level += place
        if (place < step.least.length) return level
      }
      return level
    },
  }
}

/** Index of the first threshold that is met; their number where none is. */
function findThreshold({ measure, least }: MeasureStep, a: number, b: number): number {
  const found = measure(a, b)
  let place = 0
  while (place < least.length && !(found >= least[place]!)) place++
  return place
}

function buildSteps(column: DictionaryColumn, levels: readonly ComparisonLevel[], q: number): MeasureStep[] {
  const steps: { key: string; of: ComparisonLevel; least: number[] }[] = []
  for (const level of levels) {
    const key = JSON.stringify([level.measure, level.of])
    const last = steps.at(-1)
    if (last?.key === key) last.least.push(level.least)
    else steps.push({ key, of: level, least: [level.least] })
  }
  return steps.map(({ of, least }) => ({ measure: createViewMeasure(column, of, least.at(-1)!, q), least }))
}

function createViewMeasure(
  { dictionary }: DictionaryColumn,
  { measure, of }: ComparisonLevel,
  least: number,
  q: number,
): ValueMeasure {
  if (!of) return createMeasure(measure, dictionary, least, q)
  const { codes, dictionary: parts } = applyView(dictionary, of)
  const inner = createMeasure(measure, parts, least, q)
  return (a, b) => {
    const [one, other] = [codes[a]!, codes[b]!]
    if (one < 0 || other < 0) return Number.NaN
    return one === other ? Number.POSITIVE_INFINITY : inner(one, other)
  }
}

/** Applies a view to each value of the dictionary. */
function applyView(dictionary: Dictionary, view: FieldView): DictionaryColumn {
  const codes = Int32Array.from({ length: dictionary.size }, (_, code) => code)
  return mapColumn({ codes, dictionary }, createViewFunction(view))
}
