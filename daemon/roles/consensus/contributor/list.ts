// Lists who may contribute for the caller's tenant, by name.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { exactTotal, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { readCursor, writeCursor } from '../../../kernel/store/list-cursor.ts'
import { listContributors } from './enrolment.ts'
import { contributor } from './model.ts'

export const list = operation({
  summary: 'List the contributors of the caller’s tenant, from the profile and as changed',
  method: 'GET',
  path: '/api/v2/consensus/contributor',
  input: z.strictObject(listFields),
  output: pageSchema(contributor).meta({ id: 'ContributorPage' }),
  errors: [],
  allow: 'consensus:read',

  async run(call, { limit, cursor }) {
    const all = await listContributors(call)
    const { tenant_id } = call.caller
    const query = { filter: { tenant_id }, limit, ...(cursor === undefined ? {} : { cursor }) }
    const after = readCursor('contributor', query)?.id
    const rest = all.filter(({ name }) => after === undefined || name > after)
    const items = rest.slice(0, limit)
    const last = rest.length > limit ? items.at(-1)?.name : undefined
    const next = last === undefined ? {} : { next_cursor: writeCursor('contributor', query, { value: null, id: last }) }
    return { items, ...next, ...exactTotal(all.length) }
  },
})
