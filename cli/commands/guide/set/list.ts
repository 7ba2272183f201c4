// Lists sets of artifacts of other sites.

import { listCommand } from '../../../program/list-command.ts'
import { choice } from '../../../program/params.ts'

export const definition = listCommand({
  words: 'guide set list',
  summary: 'List sets of artifacts of other sites, the newest first',
  options: { status: choice('STATUS', 'Only sets of this status', ['held', 'accepting', 'accepted', 'rejected']) },
  operation: 'gateway.guide.set.list',
  input: ({ status }) => (status === undefined ? {} : { status }),
  columns: ['id', 'status', 'peer', 'made_at', 'artifacts', 'imported_by', 'ends'],
  empty: 'no sets',
  example: 'platform guide set list --status held',
})
