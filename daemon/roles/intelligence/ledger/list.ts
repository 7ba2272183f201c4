// Lists the ledger of an insight, in order.
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { uidInput } from '../fields.ts'
import { insights } from '../insight/model.ts'
import { objectPaths } from '../object-paths.ts'
import { ledgerEvent, ledgerEvents } from './model.ts'

export const list = operation({
  ...objectPaths('insight', '/{uid}/ledger'),
  summary: 'List the events of an insight in order',
  method: 'GET',
  tool: 'insight_ledger',
  input: uidInput.extend(listFields),
  output: pageSchema(ledgerEvent).meta({ id: 'LedgerPage' }),
  errors: ['not_found'],
  allow: 'intelligence:read',

  async run(call, { uid, limit, cursor }) {
    await call.store(insights).get(uid)
    const order = { field: 'seq', direction: 'asc' } as const
    // The ledger is evidence: every acknowledged event must be included.
    const query = { ...buildListQuery({ insight_id: uid }, limit, cursor, order), fresh: true }
    const { docs, ...counted } = await call.store(ledgerEvents).page(query)
    return { items: docs.map(({ value }) => value.event), ...counted }
  },
})
