// Creates a connection without its secret, which no model may see: a person sets it by the path.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { testedConnection } from './model.ts'
import { showTested } from './show-tested.ts'
import { newConnection, storeConnection } from './store-connection.ts'

export const register = operation({
  summary: 'Create a connection, and test it; a person sets its secret by PATCH of its path',
  method: 'POST',
  tool: 'connection_create',
  input: newConnection,
  output: testedConnection,
  errors: ['label_denied', 'needs_airflow', 'idempotency_mismatch'],
  allow: 'ingest:connect',
  creates: true,

  async run(call, given) {
    const doc = await storeConnection(call, given, undefined)
    return isRefusal(doc) ? doc : await showTested(call, doc)
  },
})
