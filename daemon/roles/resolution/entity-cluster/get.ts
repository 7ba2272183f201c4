// Returns one cluster.
import { operation } from '../../../kernel/operation/operation.ts'
import { objectPathAliases } from '../../../shared/object-path/object-path-aliases.ts'
import { uidInput } from '../fields.ts'
import { clusterView, entityClusters, showCluster } from './model.ts'

export const get = operation({
  summary: 'Get one cluster',
  method: 'GET',
  path: '/api/v2/entity_cluster/{uid}',
  also: objectPathAliases('entitycluster', '/{uid}'),
  input: uidInput,
  output: clusterView,
  errors: ['not_found'],
  allow: 'resolution:read',
  versioned: true,

  run: async (call, { uid }) => showCluster(await call.store(entityClusters).get(uid)),
})
