// Weights that a lens gives, so that nothing is to be learnt.
import { hasFixedWeights, type Lens } from '../../lens/model.ts'
import type { PairComparer } from '../compare/pair-comparer.ts'
import type { MatchModel } from './model.ts'

const even_prior = 0.5

/** Undefined where the lens leaves its weights to the data. Weights are bits; m and u count as they are. */
export function createLensModel(lens: Lens, { fields, outcomes, missing }: PairComparer): MatchModel | undefined {
  if (!hasFixedWeights(lens)) return undefined
  const given = fields.map(({ name }) => lens.fields.find((field) => field.name === name)!)
  const lists = given.map(({ weights, m, u }, field) => {
    const bits = weights ?? m!.map((each, level) => Math.log2(each / u![level]!))
    // Outcomes of names that are swapped count only where both names are in the data.
    const mine = bits.slice(0, outcomes[field]! - 1)
    return [missing, ...mine.map((each) => each * Math.LN2)]
  })
  return {
    m: given.map(({ m }) => [0, ...(m ?? [])]),
    u: given.map(({ u }) => [0, ...(u ?? [])]),
    lambda: lens.prior ?? even_prior,
    weights: lists,
  }
}
