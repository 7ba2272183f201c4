// Returns the golden record of an entity: one value of each field, by the survivorship rules of its lens.
import * as z from 'zod'
import { refuse } from '../../../kernel/error/errors.ts'
import { label } from '../../../kernel/label/label.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { iterateDocuments } from '../../../kernel/store/iterate-documents.ts'
import { entityClusters } from '../entity-cluster/model.ts'
import { entityRecords, isWithdrawn } from '../entity-record/model.ts'
import { count, recordRef, shortText, uid, uidInput } from '../fields.ts'
import { lenses } from '../lens/stored-lens.ts'
import { GoldenRecordBuilder } from './golden-record.ts'

/** An entity of more records is the work of a faulty lens. */
const max_records = 20_000

const survivingValue = z
  .strictObject({
    field: shortText,
    value: z.string().meta({ description: 'In the normal form of the lens' }),
    rule: z.enum(['most_frequent', 'longest', 'newest', 'oldest', 'first_source']),
    record: recordRef.meta({ description: 'The first record with the value, in the order of sources and records' }),
    records: count.meta({ description: 'Records with the value' }),
    of: count.meta({ description: 'Records with any value of the field' }),
  })
  .meta({ id: 'SurvivingValue' })

export const get = operation({
  summary: 'Get the golden record of an entity: one value of each field, by the rules of its lens',
  method: 'GET',
  path: '/api/v2/entity_cluster/{uid}/golden_record',
  tool: 'golden_record_get',
  input: uidInput,
  output: z
    .strictObject({
      entity: uid,
      lens: shortText,
      lens_version: shortText,
      classification: label,
      size: count.meta({ description: 'Records of the entity that the caller may see' }),
      fields: z
        .array(survivingValue)
        .meta({ description: 'In the order of the lens; fields without a value are absent' }),
    })
    .meta({ id: 'GoldenRecord' }),
  errors: ['not_found'],
  allow: 'resolution:read',

  async run(call, { uid: entity }) {
    const { value } = await call.store(entityClusters).get(entity)
    const { tenant_id, lens, lens_id, lens_version, label: classification } = value
    if (value.size > max_records)
      return refuse(
        'too_large',
        `the entity has ${value.size} records, and one of at most ${max_records} has a golden record`,
      )
    // From the deletion on no values are shown, also before the records have left the entity.
    if (value.state !== 'live') return { entity, lens, lens_version, classification, size: 0, fields: [] }
    const { body } = (await call.store(lenses).get(lens_id)).value
    const builder = new GoldenRecordBuilder(body)
    let size = 0
    for await (const doc of iterateDocuments(call.store(entityRecords), { filter: { tenant_id, lens, entity } })) {
      call.signal.throwIfAborted()
      if (isWithdrawn(doc.value)) continue
      const { ref, values, values_at } = doc.value
      builder.add({ ref, values, at: values_at })
      size++
    }
    return { entity, lens, lens_version, classification, size, fields: await builder.build(() => call.pause()) }
  },
})
