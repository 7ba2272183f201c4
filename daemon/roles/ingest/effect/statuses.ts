// Lists the states of the effects of the caller's tenant.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { buildListQuery, listFields, pageSchema } from '../../../kernel/operation/paging.ts'
import { objectPaths } from '../object-paths.ts'
import { effects } from './model.ts'
import { effectState } from './status.ts'
import { showEffects } from './view.ts'

export const statuses = operation({
  ...objectPaths('status/effect'),
  summary: 'List the states of effects, newest first',
  method: 'GET',
  input: z.strictObject(listFields),
  output: pageSchema(effectState).meta({ id: 'DataEffectStatusPage' }),
  errors: [],
  allow: 'ingest:read',

  async run(call, { limit, cursor }) {
    const order = { field: 'created_at', direction: 'desc' } as const
    const { docs, ...page } = await call.store(effects).page(buildListQuery({}, limit, cursor, order))
    const shown = await showEffects(call, docs)
    return { ...page, items: shown.map((effect) => effectState.strip().parse(effect)) }
  },
})
