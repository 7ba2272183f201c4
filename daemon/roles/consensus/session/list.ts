// Lists the sessions of the caller's tenant, newest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { session, sessionState, sessions } from './model.ts'
import { showSession } from './view.ts'

export const list = operation({
  summary: 'List sessions',
  method: 'GET',
  path: '/api/v2/consensus/session',
  tool: 'consensus_session_list',
  input: z.strictObject({ ...listFields, state: sessionState.optional(), lens_id: z.string().max(256).optional() }),
  output: pageSchema(session).meta({ id: 'ConsensusSessionPage' }),
  errors: [],
  allow: 'consensus:read',

  async run(call, { limit, cursor, ...filter }) {
    const query = buildListQuery(filter, limit, cursor, { field: 'created_at', direction: 'desc' })
    const { docs, ...next } = await call.store(sessions).list(query)
    return { items: docs.map(showSession), ...next }
  },
})
