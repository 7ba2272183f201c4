// Looks up the entities of the registry that a record may belong to, with the evidence.
import * as z from 'zod'
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { label } from '../../../kernel/label/label.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { normaliseRecord } from '../engine/lookup/normalise-record.ts'
import { buildMatchEvidence } from '../explain/evidence.ts'
import { bitsToProbability, buildWaterfall } from '../explain/waterfall.ts'
import { showSteps, waterfallStep } from '../explain/waterfall-step.ts'
import { count, recordRef, shortText, uid } from '../fields.ts'
import { nodeRecord } from '../fusion-run/node-data.ts'
import type { Lens } from '../lens/model.ts'
import { type EntityCandidate, findEntityCandidates } from '../lookup/entity-candidates.ts'
import { openLookupRegistry } from '../lookup/open-lookup-registry.ts'

const max_columns = 256

const lookupCandidate = z
  .strictObject({
    entity: uid,
    classification: label,
    size: count,
    bits: z
      .number()
      .meta({ description: 'The score that decides: log-odds to base 2, over all records of the entity' }),
    probability: z.number(),
    above_cut: z.boolean().meta({ description: 'Whether the score reaches the threshold of the lens' }),
    record: recordRef.meta({ description: 'The most similar record of the entity' }),
    prior_bits: z.number(),
    steps: z.array(waterfallStep).meta({ description: 'Evidence of each field, compared with that record' }),
    record_bits: z.number().meta({ description: 'The prior and all fields, compared with that record' }),
    found_by: z.array(z.string()).meta({ description: 'Keys that both records share' }),
  })
  .meta({ id: 'LookupCandidate' })

export const lookup = operation({
  summary: 'Look one record up: the entities that it may belong to, with the evidence for each',
  method: 'POST',
  path: '/api/v2/entity_lookup',
  input: z.strictObject({
    record: nodeRecord
      .refine((columns) => Object.keys(columns).length <= max_columns, `must not have more than ${max_columns} columns`)
      .meta({ description: 'Value of each column, as in the data that the lens reads' }),
    lens_id: uid.optional().meta({ description: 'uid or name of the lens; the lens in use when absent' }),
    lens_version: shortText.optional(),
    entity_type: shortText.optional().meta({ description: 'Selects the lens in use for this entity type' }),
    node_id: shortText.optional().meta({ description: 'The node of the record' }),
    limit: z.int().min(1).max(20).default(5),
  }),
  output: z
    .strictObject({
      lens: shortText,
      lens_version: shortText,
      run_id: uid.meta({ description: 'The run whose weights are used' }),
      cut_bits: z.number().meta({ description: 'Threshold: bits from which a record belongs to an entity' }),
      entities: z.array(lookupCandidate).meta({ description: 'Candidates, best first' }),
    })
    .meta({ id: 'EntityLookup' }),
  errors: ['not_found', 'wrong_state'],
  allow: 'resolution:read',

  async run(call, { record, node_id, limit, ...selector }) {
    const registry = await openLookupRegistry(call, selector)
    if (isRefusal(registry)) return registry
    const { lens, run, weights } = registry
    const values = normaliseRecord(lens, record)
    if (!values) return refuseEmptyRecord(lens)
    const ref = node_id === undefined ? undefined : { node_id, record_id: '' }
    const candidates = await findEntityCandidates(registry, { values, ref, limit })
    return {
      lens: lens.lens,
      lens_version: lens.version,
      run_id: run.id,
      cut_bits: weights.cut / Math.LN2,
      entities: candidates.map((candidate) => showCandidate(candidate, values, lens, weights.prior / Math.LN2)),
    }
  },
})

function refuseEmptyRecord({ fields }: Lens) {
  const names = fields.map(({ name }) => name)
  const message = `has no value in any field of the lens: ${names.join(', ')}`
  return refuse('invalid', `the record ${message}`, [{ path: 'record', message }])
}

/** Builds the view of a candidate, with the requested record on the left. */
function showCandidate(
  { entity, best, score, isAbove }: EntityCandidate,
  values: Readonly<Record<string, string>>,
  lens: Lens,
  prior_bits: number,
): z.infer<typeof lookupCandidate> {
  const { record, comparison } = best
  const evidence = buildMatchEvidence(
    { value: { levels: [...comparison.parts], prior_bits } },
    lens,
    values,
    record.values,
  )
  const { steps, bits: record_bits, found_by } = buildWaterfall(evidence)
  const bits = score / Math.LN2
  return {
    entity: entity.id,
    classification: entity.label,
    size: entity.size,
    ...{ bits, probability: bitsToProbability(bits), above_cut: isAbove, record: record.ref },
    ...{ prior_bits, record_bits, found_by: [...found_by] },
    steps: showSteps(steps),
  }
}
