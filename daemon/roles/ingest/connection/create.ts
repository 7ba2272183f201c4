// Creates a connection with its secret, and tests it.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { secretText } from '../../../kernel/secret/secret-text.ts'
import { objectPaths } from '../object-paths.ts'
import { testedConnection } from './model.ts'
import { showTested } from './show-tested.ts'
import { newConnection, storeConnection } from './store-connection.ts'

export const create = operation({
  ...objectPaths('connection'),
  summary: 'Create a connection with its secret, and test it',
  method: 'POST',
  input: newConnection.extend({ secret: secretText().optional() }),
  output: testedConnection,
  status: 201,
  errors: ['label_denied', 'needs_airflow', 'idempotency_mismatch'],
  allow: 'ingest:connect',
  creates: true,
  versioned: true,

  async run(call, { secret, ...given }) {
    const doc = await storeConnection(call, given, secret)
    return isRefusal(doc) ? doc : await showTested(call, doc)
  },
})
