// Tests a connection now: whether its source answers as one of its type.
import { operation } from '../../../kernel/operation/operation.ts'
import { uid, uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { connections, connectionTest } from './model.ts'
import { testConnection } from './test-connection.ts'

export const test = operation({
  ...objectPaths('connection/{uid}/status'),
  summary: 'Test a connection now',
  method: 'GET',
  tool: 'connection_test',
  input: uidInput,
  output: connectionTest.extend({ uid }).meta({ id: 'ConnectionStatus' }),
  errors: ['not_found'],
  allow: 'ingest:connect',

  async run(call, { uid: id }) {
    return { uid: id, ...(await testConnection(call, await call.store(connections).get(id))) }
  },
})
