// Lists the effects of the caller's tenant with the live state of their DAGs.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { objectPaths } from '../object-paths.ts'
import { effects, effectView } from './model.ts'
import { showEffects } from './view.ts'

export const list = operation({
  ...objectPaths('effect'),
  summary: 'List effects, newest first, each with its live state',
  method: 'GET',
  tool: 'effect_list',
  input: z.strictObject(listFields),
  output: pageSchema(effectView).meta({ id: 'DataEffectPage' }),
  errors: [],
  allow: 'ingest:read',

  async run(call, { limit, cursor }) {
    const order = { field: 'created_at', direction: 'desc' } as const
    const { docs, ...page } = await call.store(effects).page(buildListQuery({}, limit, cursor, order))
    return { ...page, items: await showEffects(call, docs) }
  },
})
