// Lays out who stands where: each position, the two camps, and the two who are furthest apart.
import * as z from 'zod'
import { tolerance } from './decide.ts'
import { type Opinion, weight } from './opinion.ts'
import { weightedAverage } from './weighted-average.ts'

const share = z.number().min(0).max(1)

export const position = z.strictObject({
  contributor_id: z.string(),
  pair_score: share,
  weight: share.meta({ description: 'accuracy x credibility' }),
  leaning: z.enum(['match', 'non_match', 'neutral']).meta({ description: 'Side of 0.5 that the score is on' }),
  deviation: z.number().min(-1).max(1).nullable().meta({ description: 'pair_score minus the combined score' }),
})

export type Position = z.output<typeof position>

export const camp = z.strictObject({
  contributor_ids: z.array(z.string()),
  total_weight: z.number().min(0),
  mean_score: share.nullable().meta({ description: 'Weighted mean of the scores; null without weight' }),
})

export type Camp = z.output<typeof camp>

const pole = z.strictObject({ contributor_id: z.string(), pair_score: share, weight: share })

export const divergentPair = z.strictObject({ low: pole, high: pole, difference: share })
export type DivergentPair = z.output<typeof divergentPair>

export function positionOf(opinion: Opinion, score: number | null): Position {
  const { contributor_id, pair_score } = opinion
  const deviation = score === null ? null : pair_score - score
  return { contributor_id, pair_score, weight: weight(opinion), leaning: leaningOf(pair_score), deviation }
}

function leaningOf(pair_score: number): Position['leaning'] {
  if (Math.abs(pair_score - 0.5) <= tolerance) return 'neutral'
  return pair_score > 0.5 ? 'match' : 'non_match'
}

export function campOf(
  named: readonly Opinion[],
  positions: readonly Position[],
  leaning: 'match' | 'non_match',
): Camp {
  const members = named.filter((_, at) => positions[at]?.leaning === leaning)
  const { score, total_weight } = weightedAverage(members)
  return { contributor_ids: members.map((member) => member.contributor_id), total_weight, mean_score: score }
}

/** The ends of the range of scores that carry weight; of several at one end the heaviest, then the first. */
export function mostDivergentPair(positions: readonly Position[]): DivergentPair | null {
  const heard = positions.filter((position) => position.weight > 0)
  let low = heard[0]
  let high = heard[0]
  for (const position of heard) {
    if (low === undefined || high === undefined) break
    if (position.pair_score === low.pair_score && position.weight > low.weight) low = position
    if (position.pair_score > high.pair_score) high = position
    else if (position.pair_score === high.pair_score && position.weight > high.weight) high = position
  }
  if (low === undefined || high === undefined || low.pair_score === high.pair_score) return null
  return { low: poleOf(low), high: poleOf(high), difference: high.pair_score - low.pair_score }
}

function poleOf({ contributor_id, pair_score, weight }: Position) {
  return { contributor_id, pair_score, weight }
}
