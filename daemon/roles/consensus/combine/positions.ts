// Lists the position of each contributor, the support of each decision, and the most divergent pair.
import * as z from 'zod'
import { fraction } from '../fields.ts'
import { threshold_tolerance } from './decide.ts'
import { type Opinion, weight } from './opinion.ts'
import { weightedAverage } from './weighted-average.ts'

export const position = z.strictObject({
  contributor_id: z.string(),
  pair_score: fraction,
  weight: fraction.meta({ description: 'accuracy x credibility' }),
  leaning: z.enum(['match', 'non_match', 'neutral']).meta({ description: 'Side of 0.5 that the score is on' }),
  deviation: z.number().min(-1).max(1).nullable().meta({ description: 'pair_score minus the combined score' }),
})

export type ContributorPosition = z.output<typeof position>

export const decisionSupport = z.strictObject({
  contributor_ids: z.array(z.string()),
  total_weight: z.number().min(0),
  mean_score: fraction.nullable().meta({ description: 'Weighted mean of the scores; null without weight' }),
})

export type DecisionSupport = z.output<typeof decisionSupport>

const pole = z.strictObject({ contributor_id: z.string(), pair_score: fraction, weight: fraction })

export const divergentPair = z.strictObject({ low: pole, high: pole, difference: fraction })
export type DivergentPair = z.output<typeof divergentPair>

export function positionOf(opinion: Opinion, score: number | null): ContributorPosition {
  const { contributor_id, pair_score } = opinion
  const deviation = score === null ? null : pair_score - score
  return { contributor_id, pair_score, weight: weight(opinion), leaning: leaningOf(pair_score), deviation }
}

function leaningOf(pair_score: number): ContributorPosition['leaning'] {
  if (Math.abs(pair_score - 0.5) <= threshold_tolerance) return 'neutral'
  return pair_score > 0.5 ? 'match' : 'non_match'
}

export function summarizeSupport(
  opinions: readonly Opinion[],
  positions: readonly ContributorPosition[],
  leaning: 'match' | 'non_match',
): DecisionSupport {
  const members = opinions.filter((_, at) => positions[at]?.leaning === leaning)
  const { score, total_weight } = weightedAverage(members)
  return { contributor_ids: members.map((member) => member.contributor_id), total_weight, mean_score: score }
}

/** The ends of the range of scores that carry weight; of several at one end the heaviest, then the first. */
export function findMostDivergentPair(positions: readonly ContributorPosition[]): DivergentPair | null {
  const weighted = positions.filter((position) => position.weight > 0)
  let low = weighted[0]
  let high = weighted[0]
  for (const position of weighted) {
    if (low === undefined || high === undefined) break
    if (position.pair_score === low.pair_score && position.weight > low.weight) low = position
    if (position.pair_score > high.pair_score) high = position
    else if (position.pair_score === high.pair_score && position.weight > high.weight) high = position
  }
  if (low === undefined || high === undefined || low.pair_score === high.pair_score) return null
  return { low: poleOf(low), high: poleOf(high), difference: high.pair_score - low.pair_score }
}

function poleOf({ contributor_id, pair_score, weight }: ContributorPosition) {
  return { contributor_id, pair_score, weight }
}
