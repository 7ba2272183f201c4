// Lists the status feed of the coalition that this site's hub serves.

import { listCommand } from '../../program/list-command.ts'
import { text } from '../../program/params.ts'

export const definition = listCommand({
  words: 'hub feed',
  summary: 'List session states that nodes reported to the hub, newest first',
  options: {
    node: text('NODE', 'Only reports of this node'),
    lens: text('ID', 'Only sessions on this lens'),
  },
  example: 'platform hub feed --node bravo',
  operation: 'hub.feed.list',
  input: ({ node, lens }) => ({ node, lens_id: lens }),
  columns: ['seq', 'node', 'state', 'session_id', 'lens_id', 'at'],
  empty: 'no node has reported a session',
})
