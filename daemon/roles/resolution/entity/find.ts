// Finds the entity that a record of the registry belongs to.
import * as z from 'zod'
import { refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { requiredText } from '../../../kernel/operation/required-text.ts'
import { clusterView, entityClusters, showCluster } from '../entity-cluster/model.ts'
import { entityRecords, isWithdrawn, recordUid, type StoredRecord } from '../entity-record/model.ts'
import { shortText } from '../fields.ts'

/** Limit of an id in a path; list the clusters of a longer one. */
const max_id_characters = 1_024

export const find = operation({
  summary: 'Find the entity of a record, by its lens, its node and its id there',
  method: 'GET',
  path: '/api/v2/entity',
  input: z.strictObject({
    lens: shortText.meta({ description: 'Name of the lens' }),
    node_id: shortText,
    record_id: requiredText(max_id_characters),
  }),
  output: clusterView,
  errors: ['not_found'],
  allow: 'resolution:read',
  versioned: true,

  async run(call, { lens, ...ref }) {
    const record = await call.store(entityRecords).find(recordUid(call.caller.tenant_id, lens, ref))
    const id = record && !isWithdrawn(record.value) ? record.value.entity : undefined
    const entity = id === undefined ? undefined : await call.store(entityClusters).find(id)
    if (entity) return showCluster(entity)
    return refuse('not_found', `the record ${ref.record_id} of node ${ref.node_id} ${describeAbsence(record?.value)}`)
  },
})

function describeAbsence(record: StoredRecord | undefined): string {
  if (!record) return 'is not in the registry: list its clusters, or add the record'
  if (!record.withdrawn) return 'waits to be matched: retry'
  const { kind, at, entity } = record.withdrawn
  return kind === 'forgotten' ? `was forgotten at ${at}` : `belongs to no entity since ${entity} was deleted at ${at}`
}
