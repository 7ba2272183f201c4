// Lists the sessions of the caller's tenant, newest first, also those that await a contribution.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import type { Filter } from '../../../kernel/store/store.ts'
import { shortText } from '../fields.ts'
import { awaiting_states, listAwaiting, listOwnNames } from './awaiting.ts'
import { session, sessionState, sessions } from './model.ts'
import { showSession } from './view.ts'

/** Sessions of a page whose contributions are read. */
const max_awaiting_page = 50

export const list = operation({
  summary: 'List sessions',
  method: 'GET',
  path: '/api/v2/consensus/session',
  tool: 'consensus_session_list',
  input: z.strictObject({
    ...listFields,
    state: sessionState.optional(),
    lens_id: z.string().max(256).optional(),
    correlation_id: shortText.optional().meta({ description: 'That of the subject' }),
    deadline_before: z.iso
      .datetime({ offset: true })
      .optional()
      .meta({ description: 'Only undecided sessions whose deadline is at or before this instant' }),
    awaiting: shortText.optional().meta({ description: 'Only open sessions that await this contributor' }),
    awaiting_me: z
      .boolean()
      .optional()
      .meta({ description: 'true: only open sessions that await a contributor for whom the caller may submit' }),
  }),
  output: pageSchema(session).meta({ id: 'ConsensusSessionPage' }),
  errors: [],
  allow: 'consensus:read',

  async run(call, { limit, cursor, awaiting, awaiting_me, deadline_before, ...equal }) {
    const own = awaiting_me ? await listOwnNames(call) : undefined
    const names = awaiting === undefined ? own : [awaiting].filter((name) => own?.includes(name) ?? true)
    const conditions: Filter = {
      ...(deadline_before === undefined ? {} : { deadline_ts: { lte: Date.parse(deadline_before) } }),
      ...(names && equal.state === undefined ? { state: { in: awaiting_states } } : {}),
    }
    const size = names ? Math.min(limit, max_awaiting_page) : limit
    const base = buildListQuery(equal, size, cursor, { field: 'created_at', direction: 'desc' })
    const query = { ...base, filter: { ...base.filter, ...conditions } }
    const { docs, ...counted } = names ? await listAwaiting(call, query, names) : await call.store(sessions).page(query)
    return { items: docs.map(showSession), ...counted }
  },
})
