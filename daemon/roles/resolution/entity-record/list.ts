// Lists the records of an entity with their values.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { entityClusters } from '../entity-cluster/model.ts'
import { uid } from '../fields.ts'
import { entityRecords, isWithdrawn, recordView, showRecord } from './model.ts'

export const list = operation({
  summary: 'List the records of an entity, with their normalised values',
  method: 'GET',
  path: '/api/v2/entity_cluster/{uid}/record',
  input: z.strictObject({ uid, ...listFields }),
  output: pageSchema(recordView).meta({ id: 'EntityRecordPage' }),
  errors: ['not_found'],
  allow: 'resolution:read',

  async run(call, { uid: entity, limit, cursor }) {
    const { value } = await call.store(entityClusters).get(entity)
    // From the deletion on no values are shown, also before the records have left the entity.
    if (value.state !== 'live') return { items: [], total: 0, total_is: 'exact' as const }
    const filter = { tenant_id: value.tenant_id, lens: value.lens, entity }
    const { docs, ...counted } = await call.store(entityRecords).page(buildListQuery(filter, limit, cursor))
    // A withdrawn record names its entity until that is settled without it.
    return { items: docs.filter((doc) => !isWithdrawn(doc.value)).map(showRecord), ...counted }
  },
})
