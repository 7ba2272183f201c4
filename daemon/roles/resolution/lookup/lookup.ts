// Tells at once which entities of the registry one record may belong to, and why.
import * as z from 'zod'
import { isRefused, refuse } from '../../../kernel/errors.ts'
import { label } from '../../../kernel/label.ts'
import { operation } from '../../../kernel/operation.ts'
import { normalValues } from '../engine/lookup/normal.ts'
import { evidenceFor } from '../explain/evidence.ts'
import { shownSteps, step } from '../explain/step.ts'
import { probabilityOf, waterfallOf } from '../explain/waterfall.ts'
import { count, recordRef, uid, word } from '../fields.ts'
import { nodeRecord } from '../fusion-run/node-data.ts'
import type { Lens } from '../lens/model.ts'
import { entitiesFor, type FoundEntity } from './found.ts'
import { knownTo } from './known-to.ts'

const most_columns = 256

const candidate = z
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
    steps: z.array(step).meta({ description: 'What each field says beside that record' }),
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
      .refine(
        (columns) => Object.keys(columns).length <= most_columns,
        `must not have more than ${most_columns} columns`,
      )
      .meta({ description: 'Column to value, as in the data that the lens reads' }),
    lens_id: uid.optional().meta({ description: 'uid or name; absent: the lens that is in use' }),
    lens_version: word.optional(),
    entity_type: word.optional().meta({ description: 'Of which the lens in use is meant' }),
    node_id: word.optional().meta({ description: 'The node that the record is of' }),
    limit: z.int().min(1).max(20).default(5),
  }),
  output: z
    .strictObject({
      lens: word,
      lens_version: word,
      run_id: uid.meta({ description: 'The run whose weights count' }),
      cut_bits: z.number().meta({ description: 'Bits from which on the lens holds records to be one' }),
      entities: z.array(candidate).meta({ description: 'The best first' }),
    })
    .meta({ id: 'EntityLookup' }),
  errors: ['not_found', 'wrong_state'],
  allow: 'resolution:read',

  async run(call, { record, node_id, limit, ...asked }) {
    const known = await knownTo(call, asked)
    if (isRefused(known)) return known
    const { lens, run, weights } = known
    const values = normalValues(lens, record)
    if (!values) return nothingSaid(lens)
    const ref = node_id === undefined ? undefined : { node_id, record_id: '' }
    const found = await entitiesFor(known, { values, ref, limit })
    return {
      lens: lens.lens,
      lens_version: lens.version,
      run_id: run.id,
      cut_bits: weights.cut / Math.LN2,
      entities: found.map((each) => shown(each, values, lens, weights.prior / Math.LN2)),
    }
  },
})

function nothingSaid({ fields }: Lens) {
  const names = fields.map(({ name }) => name)
  const message = `says nothing that the lens reads: ${names.join(', ')}`
  return refuse('invalid', `the record ${message}`, [{ path: 'record', message }])
}

/** The record that was asked about is on the left. */
function shown(
  { entity, best, score, isAbove }: FoundEntity,
  values: Readonly<Record<string, string>>,
  lens: Lens,
  prior_bits: number,
): z.infer<typeof candidate> {
  const { record, compared } = best
  const evidence = evidenceFor({ value: { levels: [...compared.parts], prior_bits } }, lens, values, record.values)
  const { steps, bits: record_bits, found_by } = waterfallOf(evidence)
  const bits = score / Math.LN2
  return {
    entity: entity.id,
    classification: entity.label,
    size: entity.size,
    ...{ bits, probability: probabilityOf(bits), above_cut: isAbove, record: record.ref },
    ...{ prior_bits, record_bits, found_by: [...found_by] },
    steps: shownSteps(steps),
  }
}
