// Builds the view of a lookup candidate, with its evidence.
import * as z from 'zod'
import { label } from '../../../kernel/label/label.ts'
import type { FieldValues } from '../engine/lookup/keys.ts'
import { listFoundBy } from '../engine/lookup/list-found-by.ts'
import { buildMatchEvidence } from '../explain/evidence.ts'
import { bitsToProbability, buildWaterfall } from '../explain/waterfall.ts'
import { showSteps, waterfallStep } from '../explain/waterfall-step.ts'
import { count, recordRef, uid } from '../fields.ts'
import type { EntityCandidate } from './entity-candidates.ts'
import type { SearchableRegistry } from './lookup-registry.ts'

export const lookupCandidate = z
  .strictObject({
    entity: uid,
    classification: label,
    size: count,
    bits: z
      .number()
      .meta({ description: 'The score that decides: log-odds to base 2, over all records of the entity' }),
    probability: z.number(),
    above_cut: z
      .boolean()
      .meta({ description: 'Whether the score reaches the cut, and enough fields agree for a link' }),
    record: recordRef.meta({ description: 'The most similar record of the entity' }),
    prior_bits: z.number(),
    steps: z.array(waterfallStep).meta({ description: 'Evidence of each field, compared with that record' }),
    record_bits: z.number().meta({ description: 'The prior and all fields, compared with that record' }),
    found_by: z
      .array(z.string())
      .meta({ description: 'Keys by which that record was found; without one, another record of the entity was' }),
  })
  .meta({ id: 'LookupCandidate' })

/** Builds the view of a candidate, with the requested record on the left. */
export function showCandidate(
  { entity, best, score, isAbove }: EntityCandidate,
  values: FieldValues,
  { lens, weights, index }: Pick<SearchableRegistry, 'lens' | 'weights' | 'index'>,
): z.infer<typeof lookupCandidate> {
  const { record, comparison } = best
  const prior_bits = weights.prior / Math.LN2
  const found_by = listFoundBy({ lens, index }, values, record.values)
  const levels = [...comparison.parts]
  const evidence = buildMatchEvidence({ score: {}, levels, prior_bits, found_by }, lens, values, record.values)
  const waterfall = buildWaterfall(evidence)
  const bits = score / Math.LN2
  return {
    entity: entity.id,
    classification: entity.label,
    size: entity.size,
    ...{ bits, probability: bitsToProbability(bits), above_cut: isAbove, record: record.ref },
    ...{ prior_bits, record_bits: waterfall.total, found_by },
    steps: showSteps(waterfall),
  }
}
