// Changes a connection, sets its secret, and tests it.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { secretText } from '../../../kernel/secret/secret-text.ts'
import { objectPaths } from '../object-paths.ts'
import { changeConnection, changedConnection } from './change-connection.ts'
import { testedConnection } from './model.ts'
import { showTested } from './show-tested.ts'

export const update = operation({
  ...objectPaths('connection/{uid}'),
  summary: 'Change a connection or set its secret, and test it; another server clears the secret',
  method: 'PATCH',
  input: changedConnection.extend({ secret: secretText().optional() }),
  output: testedConnection,
  errors: ['not_found', 'not_your_tenant', 'precondition_failed'],
  allow: 'ingest:connect',
  versioned: true,

  async run(call, { secret, ...given }) {
    const doc = await changeConnection(call, given, secret)
    return isRefusal(doc) ? doc : await showTested(call, doc)
  },
})
