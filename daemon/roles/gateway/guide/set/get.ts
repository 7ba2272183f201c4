// Shows a set of artifacts from another site.
import * as z from 'zod'
import { operation } from '../../../../kernel/operation/operation.ts'
import { guidanceSets } from './model.ts'
import { setId, setView, showSet } from './view.ts'

export const get = operation({
  summary: 'Get a set of artifacts from another site',
  method: 'GET',
  path: '/api/v1/guide/sets/{id}',
  input: z.strictObject({ id: setId }),
  output: setView,
  errors: ['not_found'],
  allow: 'guide:admin',

  run: async (call, { id }) => showSet(await call.store(guidanceSets).get(id), call.site.name),
})
