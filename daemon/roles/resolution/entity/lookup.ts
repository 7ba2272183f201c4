// Looks up the entities of the registry that one record may belong to, with the evidence.
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
      .meta({ description: 'By which it is decided: log-odds to base 2, over all records of the entity' }),
    probability: z.number(),
    above_cut: z.boolean().meta({ description: 'Whether the lens holds the record to be this entity' }),
    record: recordRef.meta({ description: 'The record of the entity that is most alike' }),
    prior_bits: z.number(),
    steps: z.array(waterfallStep).meta({ description: 'What each field says beside that record' }),
    record_bits: z.number().meta({ description: 'The prior and all fields, beside that record' }),
    found_by: z.array(z.string()).meta({ description: 'Keys that both share' }),
  })
  .meta({ id: 'LookupCandidate' })

export const lookup = operation({
  summary: 'Look one record up: the entities that it may belong to, with the evidence for each',
  method: 'POST',
  path: '/api/v2/entity_lookup',
  input: z.strictObject({
    record: nodeRecord
      .refine((columns) => Object.keys(columns).length <= max_columns, `must not have more than ${max_columns} columns`)
      .meta({ description: 'Column to value, as in the data that the lens reads' }),
    lens_id: uid.optional().meta({ description: 'uid or name; absent: the lens that is in use' }),
    lens_version: shortText.optional(),
    entity_type: shortText.optional().meta({ description: 'Of which the lens in use is meant' }),
    node_id: shortText.optional().meta({ description: 'The node that the record is of' }),
    limit: z.int().min(1).max(20).default(5),
  }),
  output: z
    .strictObject({
      lens: shortText,
      lens_version: shortText,
      run_id: uid.meta({ description: 'The run whose weights count' }),
      cut_bits: z.number().meta({ description: 'Bits from which on the lens holds records to be one' }),
      entities: z.array(lookupCandidate).meta({ description: 'The best first' }),
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
    const found = await findEntityCandidates(registry, { values, ref, limit })
    return {
      lens: lens.lens,
      lens_version: lens.version,
      run_id: run.id,
      cut_bits: weights.cut / Math.LN2,
      entities: found.map((each) => showCandidate(each, values, lens, weights.prior / Math.LN2)),
    }
  },
})

function refuseEmptyRecord({ fields }: Lens) {
  const names = fields.map(({ name }) => name)
  const message = `says nothing that the lens reads: ${names.join(', ')}`
  return refuse('invalid', `the record ${message}`, [{ path: 'record', message }])
}

/** The record that was asked about is on the left. */
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
