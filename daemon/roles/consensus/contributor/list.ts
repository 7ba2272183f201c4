// Lists who may contribute for the caller's tenant, by name.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { exactTotal, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { listContributors } from './enrolment.ts'
import { contributor } from './model.ts'

export const list = operation({
  summary: 'List the contributors of the caller’s tenant, from the profile and as changed',
  method: 'GET',
  path: '/api/v2/consensus/contributor',
  input: z.strictObject({
    ...listFields,
    cursor: listFields.cursor.meta({ description: 'The last name of the page before' }),
  }),
  output: pageSchema(contributor).meta({ id: 'ContributorPage' }),
  errors: [],
  allow: 'consensus:read',

  async run(call, { limit, cursor }) {
    const all = await listContributors(call)
    const rest = all.filter(({ name }) => cursor === undefined || name > cursor)
    const items = rest.slice(0, limit)
    const last = rest.length > limit ? items.at(-1)?.name : undefined
    return { items, ...(last === undefined ? {} : { next_cursor: last }), ...exactTotal(all.length) }
  },
})
