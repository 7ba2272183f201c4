// Lists signals about one entity, the latest detected first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { shortText } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { filterFields, listSignals, signalPage } from './list-signals.ts'

export const byEntity = operation({
  summary: 'List the signals about an entity, the latest detected first',
  method: 'GET',
  ...objectPaths('signal', '/by-entity/{entity_id}'),
  tool: 'signal_by_entity',
  input: z.strictObject({ ...filterFields, entity_id: shortText }),
  output: signalPage,
  errors: [],
  allow: 'intelligence:read',

  run: (call, { entity_id: subject_id, ...filters }) => listSignals(call, { ...filters, subject_id }),
})
