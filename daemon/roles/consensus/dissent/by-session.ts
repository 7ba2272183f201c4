// Lists all dissent records of one session, oldest first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { dissents, machineDissent } from '../session/dissent/model.ts'
import { sessions } from '../session/model.ts'
import { showDissent } from './view.ts'

export const bySession = operation({
  summary: 'List all dissent records of a session',
  method: 'GET',
  path: '/api/v2/dissent/by-session/{session_id}',
  tool: 'dissent_by_session',
  input: z.strictObject({ ...listFields, session_id: z.string().min(1).max(128) }),
  output: pageSchema(machineDissent).meta({ id: 'MachineDissentPage' }),
  errors: ['not_found'],
  allow: 'consensus:read',

  async run(call, { session_id, limit, cursor }) {
    await call.store(sessions).get(session_id)
    const query = buildListQuery({ session_id }, limit, cursor, { field: 'created_at', direction: 'asc' })
    const { docs, ...counted } = await call.store(dissents).page(query)
    return { items: docs.map(showDissent), ...counted }
  },
})
