// Lists a session's contributions, superseded ones included, in the order of acceptance.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { exactTotal, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { readCursor, writeCursor } from '../../../kernel/store/list-cursor.ts'
import { voterOf } from '../session/contribution/contribution-index.ts'
import { loadContributionIndex } from '../session/contribution/contribution-index-cache.ts'
import { contribution } from '../session/contribution/model.ts'
import { readContributions } from '../session/contribution/read-contributions.ts'
import { idInput, sessions } from '../session/model.ts'

export const list = operation({
  summary: 'List the contributions of a session',
  method: 'GET',
  path: '/api/v2/consensus/session/{id}/contribution',
  tool: 'consensus_contribution_list',
  input: idInput.extend(listFields),
  output: pageSchema(contribution.extend({ standing: z.boolean() })).meta({ id: 'ContributionPage' }),
  errors: ['not_found'],
  allow: 'consensus:read',

  async run(call, { id, limit, cursor }) {
    const doc = await call.store(sessions).get(id)
    const { by_voter } = await loadContributionIndex(call, doc)
    const query = { filter: { session: id }, limit, ...(cursor === undefined ? {} : { cursor }) }
    const from = Number(readCursor('contribution', query)?.value ?? 0)
    const items = await readContributions(call, doc, from, limit)
    const next = from + items.length
    const total = doc.value.contributions
    return {
      items: items.map((item) => ({ ...item, standing: by_voter.get(voterOf(item))?.id === item.id })),
      ...(next < total ? { next_cursor: writeCursor('contribution', query, { value: next, id: '' }) } : {}),
      ...exactTotal(total),
    }
  },
})
