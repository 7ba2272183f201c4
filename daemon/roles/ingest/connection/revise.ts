// Changes a connection but for its secret, which no model may see.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { changeConnection, changedConnection } from './change-connection.ts'
import { testedConnection } from './model.ts'
import { showTested } from './show-tested.ts'

export const revise = operation({
  summary: 'Change a connection, and test it; another server clears its secret',
  method: 'PATCH',
  tool: 'connection_update',
  input: changedConnection,
  output: testedConnection,
  errors: ['not_found', 'not_your_tenant'],
  allow: 'ingest:connect',

  async run(call, given) {
    const doc = await changeConnection(call, given)
    return isRefusal(doc) ? doc : await showTested(call, doc)
  },
})
