// Levels as a lens gives them: measures with thresholds, the best that fits being the level of a pair.
import type { Level } from '../../lens/comparison.ts'
import type { View } from '../../lens/expression.ts'
import { type Column, type Dictionary, viewed } from '../text/dictionary.ts'
import { seeing } from '../text/views.ts'
import type { Levels } from './levels.ts'
import { type Measure, measureOf } from './measures.ts'

/** Neighbouring levels of one measure, which is taken once for all of them. */
type Step = { readonly measure: Measure; readonly least: readonly number[] }

export function givenLevels(column: Column, levels: readonly Level[], q: number): Levels {
  const steps = stepsOf(column, levels, q)
  const count = levels.length + 2
  const [only] = steps
  if (!only) return { count, levelOf: () => 1 }
  if (steps.length === 1) return { count, levelOf: (a, b) => 1 + placeIn(only, a, b) }
  return {
    count,
    levelOf(a, b) {
      let level = 1
      for (let at = 0; at < steps.length; at++) {
        const step = steps[at]!
        const place = placeIn(step, a, b)
        level += place
        if (place < step.least.length) return level
      }
      return level
    },
  }
}

/** Which threshold is met first; how many there are where none is. */
function placeIn({ measure, least }: Step, a: number, b: number): number {
  const found = measure(a, b)
  let place = 0
  while (place < least.length && !(found >= least[place]!)) place++
  return place
}

function stepsOf(column: Column, levels: readonly Level[], q: number): Step[] {
  const steps: { key: string; of: Level; least: number[] }[] = []
  for (const level of levels) {
    const key = JSON.stringify([level.measure, level.of])
    const last = steps.at(-1)
    if (last?.key === key) last.least.push(level.least)
    else steps.push({ key, of: level, least: [level.least] })
  }
  return steps.map(({ of, least }) => ({ measure: seenBy(column, of, least.at(-1)!, q), least }))
}

function seenBy({ dictionary }: Column, { measure, of }: Level, least: number, q: number): Measure {
  if (!of) return measureOf(measure, dictionary, least, q)
  const { codes, dictionary: parts } = partsOf(dictionary, of)
  const inner = measureOf(measure, parts, least, q)
  return (a, b) => {
    const [one, other] = [codes[a]!, codes[b]!]
    if (one < 0 || other < 0) return Number.NaN
    return one === other ? Number.POSITIVE_INFINITY : inner(one, other)
  }
}

/** Each value of the dictionary through a view. */
function partsOf(dictionary: Dictionary, view: View): Column {
  const codes = Int32Array.from({ length: dictionary.size }, (_, code) => code)
  return viewed({ codes, dictionary }, seeing(view))
}
