// Lists items of polled sources that are not signals, the newest first.
import * as z from 'zod'
import { label } from '../../../kernel/label/label.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { instant, shortText } from '../fields.ts'
import { refusedItems } from './model.ts'

const refusedItem = z
  .strictObject({
    id: z.string(),
    source: shortText,
    classification: label,
    known: z.string(),
    at: instant,
    detail: z.string(),
    item: z.string(),
  })
  .meta({ id: 'RefusedItem' })

export const list = operation({
  summary: 'List items of a polled source that are not signals, with the reason',
  method: 'GET',
  path: '/api/v1/signal-source/{name}/refused',
  input: z.strictObject({ ...listFields, name: shortText }),
  output: pageSchema(refusedItem).meta({ id: 'RefusedItemPage' }),
  errors: [],
  allow: 'intelligence:operate',

  async run(call, { limit, cursor, name: source }) {
    const query = buildListQuery({ source }, limit, cursor, { field: 'at', direction: 'desc' })
    const { docs, ...counted } = await call.store(refusedItems).page(query)
    const items = docs.map(({ id, value: { tenant_id: _tenant, label: classification, ...rest } }) => {
      return { id, classification, ...rest }
    })
    return { items, ...counted }
  },
})
