// Clusters of the caller's tenant, the largest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation.ts'
import { listFields, pageOf, queryOf } from '../../../kernel/paging.ts'
import { summaryField, uid, word } from '../fields.ts'
import { ownedPaths } from '../owned.ts'
import { clusterState, clusterSummary, clusterView, entityClusters, short, shown } from './model.ts'

export const list = operation({
  summary: 'List clusters, the largest first',
  method: 'GET',
  path: '/api/v2/entity_cluster',
  also: ownedPaths('entitycluster'),
  input: z.strictObject({
    ...listFields,
    ...summaryField,
    run_id: uid.optional(),
    lens: word.optional(),
    entity_type: word.optional(),
    state: clusterState.default('live'),
  }),
  output: pageOf(z.union([clusterView, clusterSummary])).meta({ id: 'EntityClusterPage' }),
  errors: [],
  allow: 'resolution:read',

  async run(call, { limit, cursor, summary, ...filter }) {
    const query = queryOf(filter, limit, cursor, { field: 'size', direction: 'desc' })
    const { docs, ...next } = await call.store(entityClusters).list(query)
    return { items: docs.map(summary ? short : shown), ...next }
  },
})
