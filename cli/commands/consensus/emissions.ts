// Lists the decisions on lenses that peers have reported to this site.

import { listCommand } from '../../program/list-command.ts'
import { choice, text } from '../../program/params.ts'

export const definition = listCommand({
  words: 'consensus emissions',
  summary: 'List decisions on lenses that peers reported, latest received first',
  options: {
    lens: text('ID', 'Only decisions on this lens'),
    session: text('ID', 'Only decisions of this session, by its id at its origin'),
    correlation: text('ID', 'Only decisions on this EntityMatch'),
    origin: text('PEER', 'Only decisions of this peer'),
    status: choice('STATUS', 'Only decisions in force, or only withdrawn ones', ['standing', 'withdrawn']),
  },
  example: 'platform consensus emissions --origin bravo --status standing',
  operation: 'consensus.emission.list',
  input: ({ lens, session, correlation, origin, status }) => ({
    ...{ lens_id: lens, session_id: session, correlation_id: correlation },
    ...{ origin, status },
  }),
  columns: ['origin', 'session_id', 'status', 'decision', 'score', 'attested', 'lens_id', 'at'],
  empty: 'no peer has reported such a decision',
})
