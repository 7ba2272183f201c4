// Lists the ledger of an insight: its events, in order.

import { listCommand } from '../../program/list-command.ts'
import { required, text } from '../../program/params.ts'

export const definition = listCommand({
  words: 'insight ledger',
  summary: 'List the events of an insight in order',
  positionals: { id: required(text('INSIGHT', 'ID of the insight')) },
  example: 'platform insight ledger ins_…',
  operation: 'intelligence.ledger.list',
  input: ({ id }) => ({ uid: id }),
  columns: ['seq', 'at', 'type', 'by', 'signal_id', 'edition_id', 'from', 'to', 'rationale'],
  empty: 'No events yet',
})
