// Looks up the entities of the registry that a record may belong to, with the evidence.
import * as z from 'zod'
import { isRefusal, refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { shortText, uid } from '../fields.ts'
import { nodeRecord } from '../fusion-run/node-data.ts'
import type { Lens } from '../lens/model.ts'
import { openLookupRegistry } from '../lookup/open-lookup-registry.ts'
import { searchRegistry } from '../lookup/search-registry.ts'
import { lookupCandidate } from '../lookup/show-candidate.ts'

const max_columns = 256

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
  reads: true,

  async run(call, { record, node_id, limit, ...selector }) {
    const registry = await openLookupRegistry(call, selector)
    if (isRefusal(registry)) return registry
    const { lens, run, weights } = registry
    const ref = node_id === undefined ? undefined : { node_id, record_id: '' }
    const entities = await searchRegistry(call, registry, { record, ref, limit })
    if (!entities) return refuseEmptyRecord(lens)
    return {
      lens: lens.lens,
      lens_version: lens.version,
      run_id: run.id,
      cut_bits: weights.cut / Math.LN2,
      entities: [...entities],
    }
  },
})

function refuseEmptyRecord({ fields }: Lens) {
  const names = fields.map(({ name }) => name)
  const message = `has no value in any field of the lens: ${names.join(', ')}`
  return refuse('invalid', `the record ${message}`, [{ path: 'record', message }])
}
