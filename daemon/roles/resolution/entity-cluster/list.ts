// Lists clusters of the caller's tenant, largest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { objectPathAliases } from '../../../shared/object-path/object-path-aliases.ts'
import { shortText, summaryField, uid } from '../fields.ts'
import { clusterState, clusterSummary, clusterView, entityClusters, showCluster, summariseCluster } from './model.ts'

export const list = operation({
  summary: 'List clusters, largest first',
  method: 'GET',
  path: '/api/v2/entity_cluster',
  also: objectPathAliases('entitycluster'),
  input: z.strictObject({
    ...listFields,
    ...summaryField,
    run_id: uid.optional(),
    lens: shortText.optional(),
    entity_type: shortText.optional(),
    state: clusterState.default('live'),
    min_size: z
      .int()
      .min(0)
      .max(1_000_000)
      .default(2)
      .meta({ description: 'Minimum number of records; 1 includes single records' }),
  }),
  output: pageSchema(z.union([clusterView, clusterSummary])).meta({ id: 'EntityClusterPage' }),
  errors: [],
  allow: 'resolution:read',

  async run(call, { limit, cursor, summary, min_size, ...filter }) {
    const { filter: fields, ...query } = buildListQuery(filter, limit, cursor, { field: 'size', direction: 'desc' })
    const size = filter.state === 'live' ? { size: { gte: min_size } } : {}
    const { docs, ...counted } = await call.store(entityClusters).page({ ...query, filter: { ...fields, ...size } })
    return { items: docs.map(summary ? summariseCluster : showCluster), ...counted }
  },
})
