// One cluster.
import { operation } from '../../../kernel/operation.ts'
import { ownedPaths } from '../../../kernel/owned.ts'
import { uidInput } from '../fields.ts'
import { clusterView, entityClusters, shown } from './model.ts'

export const get = operation({
  summary: 'Get one cluster',
  method: 'GET',
  path: '/api/v2/entity_cluster/{uid}',
  also: ownedPaths('entitycluster', '/{uid}'),
  input: uidInput,
  output: clusterView,
  errors: ['not_found'],
  allow: 'resolution:read',
  versioned: true,

  run: async (call, { uid }) => shown(await call.store(entityClusters).get(uid)),
})
