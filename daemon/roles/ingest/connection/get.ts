// Gets one connection, without its secret.
import { operation } from '../../../kernel/operation/operation.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { connections, connectionView, showConnection } from './model.ts'

export const get = operation({
  ...objectPaths('connection/{uid}'),
  summary: 'Get one connection, without its secret',
  method: 'GET',
  tool: 'connection_get',
  input: uidInput,
  output: connectionView,
  errors: ['not_found'],
  allow: 'ingest:read',
  versioned: true,

  run: async (call, { uid }) => showConnection(await call.store(connections).get(uid)),
})
