// Shows whether the curator of the tenant is paused.
import * as z from 'zod'
import { operation } from '../../../../kernel/operation/operation.ts'
import { curatorId, curators } from './model.ts'
import { curatorView, showCurator } from './view.ts'

export const get = operation({
  summary: 'Read whether the curator is paused, by whom and why',
  method: 'GET',
  path: '/api/v1/guide/curator',
  input: z.strictObject({}),
  output: curatorView,
  errors: [],
  allow: 'guide:admin',

  async run(call) {
    return showCurator(await call.store(curators).find(curatorId(call.caller.tenant_id)))
  },
})
