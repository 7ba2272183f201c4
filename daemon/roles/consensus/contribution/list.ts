// The record of a session's contributions, superseded ones included, in the order of their acceptance.
import * as z from 'zod'
import type { Call } from '../../../kernel/call.ts'
import { operation } from '../../../kernel/operation.ts'
import { listFields, pageOf } from '../../../kernel/paging.ts'
import type { Doc } from '../../../kernel/store.ts'
import { idInput, type StoredSession, sessions } from '../session/model.ts'
import { pageId, standingOf } from '../session/standings.ts'
import { type Contribution, contribution, contributionPages, page_size } from './model.ts'

export const list = operation({
  summary: 'List the contributions of a session',
  method: 'GET',
  path: '/api/v2/consensus/session/{id}/contribution',
  tool: 'consensus_contribution_list',
  input: idInput.extend({
    ...listFields,
    cursor: z
      .string()
      .regex(/^\d{1,9}$/)
      .optional(),
  }),
  output: pageOf(contribution.extend({ standing: z.boolean() })).meta({ id: 'ContributionPage' }),
  errors: ['not_found'],
  allow: 'consensus:read',

  async run(call, { id, limit, cursor }) {
    const doc = await call.store(sessions).get(id)
    const { by_contributor } = await standingOf(call, doc)
    const from = Number(cursor ?? 0)
    const items = await record(call, doc, from, limit)
    const more = from + items.length < doc.value.contributions
    return {
      items: items.map((item) => ({ ...item, standing: by_contributor.get(item.contributor_id)?.id === item.id })),
      ...(more ? { next_cursor: String(from + items.length) } : {}),
    }
  },
})

/** Contributions `from + 1` to `from + limit` of the record. */
async function record(
  call: Call,
  { id, value }: Doc<StoredSession>,
  from: number,
  limit: number,
): Promise<Contribution[]> {
  const found: Contribution[] = []
  for (let page = Math.floor(from / page_size); page < value.pages && found.length < limit + page_size; page++) {
    found.push(...(await call.store(contributionPages).get(pageId(id, page))).value.contributions)
  }
  return [...found, ...value.recent].filter(({ ordinal }) => ordinal > from).slice(0, limit)
}
