// Builds the model of a lens with fixed weights.
import { hasFixedWeights, type Lens } from '../../lens/model.ts'
import type { PairComparer } from '../compare/pair-comparer.ts'
import type { MatchModel } from './model.ts'

const even_prior = 0.5

/**
 * Creates the model; undefined if the lens leaves its weights to the data. Weights are in bits; m and u are unchanged.
 */
export function createLensModel(lens: Lens, { fields, outcomes, missing }: PairComparer): MatchModel | undefined {
  if (!hasFixedWeights(lens)) return undefined
  const lensFields = fields.map(({ name }) => lens.fields.find((field) => field.name === name)!)
  const lists = lensFields.map(({ weights, m, u }, field) => {
    const bits = weights ?? m!.map((share, level) => Math.log2(share / u![level]!))
    // The swap outcomes count only where both name fields are in the data.
    const levelBits = bits.slice(0, outcomes[field]! - 1)
    return [missing, ...levelBits.map((weight) => weight * Math.LN2)]
  })
  return {
    m: lensFields.map(({ m }) => [0, ...(m ?? [])]),
    u: lensFields.map(({ u }) => [0, ...(u ?? [])]),
    lambda: lens.prior ?? even_prior,
    weights: lists,
  }
}
