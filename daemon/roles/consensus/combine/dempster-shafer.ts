// The evidential combiner: Dempster's general rule on the frame {match, non_match}, each source discounted by weight.
import type { Combination } from './combination.ts'
import { measureConflict } from './conflict.ts'
import { combineSources } from './dempster-rule.ts'
import { addMass, belief, clearMass, type Mass, pignistic, plausibility, zeroMass } from './mass.ts'
import { type Opinion, weight } from './opinion.ts'
import { totalWeight } from './weights.ts'

const SINGLETONS = 2
const MATCH = 0b01
const NON_MATCH = 0b10
const EITHER = 0b11

/**
 * Combines canonically sorted opinions: m(match) = w s, m(non_match) = w (1 - s), m(either) = 1 - w. The score is the
 * pignistic probability of a match. Total conflict: score, belief and plausibility null, K = 1. No weight: score null.
 */
export function dempsterShafer(sorted: readonly Opinion[]): Combination {
  const method = 'dempster_shafer'
  const measured = { conflict: measureConflict(sorted), total_weight: totalWeight(sorted) }
  const { mass, K } = combineSources(SINGLETONS, sorted.length, sourcesOf(sorted))
  if (mass === null) {
    return { method, score: null, ...measured, belief: null, plausibility: null, K, reason: 'total_conflict' }
  }
  const granted = { belief: belief(mass, MATCH), plausibility: plausibility(mass, MATCH), K }
  if (measured.total_weight === 0) return { method, score: null, ...measured, ...granted, reason: 'no_weight' }
  return { method, score: pignistic(mass, MATCH), ...measured, ...granted }
}

/** Refills one mass function for each opinion: a thousand small arrays would cost more than the rule. */
function sourcesOf(sorted: readonly Opinion[]): (index: number) => Mass {
  const source = zeroMass(SINGLETONS)
  return (index) => {
    const opinion = sorted[index] as Opinion
    const w = weight(opinion)
    clearMass(source)
    addMass(source, MATCH, w * opinion.pair_score, 0)
    addMass(source, NON_MATCH, w * (1 - opinion.pair_score), 0)
    addMass(source, EITHER, 1 - w, 0)
    return source
  }
}
