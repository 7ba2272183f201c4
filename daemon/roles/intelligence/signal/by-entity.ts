// Signals about one entity, the latest detected first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation.ts'
import { ownedPaths } from '../../../kernel/owned.ts'
import { word } from '../fields.ts'
import { filterFields, pageOfSignals, signalPage } from './page.ts'

const [path = '', ...also] = ownedPaths('signal', '/by-entity/{entity_id}')

export const byEntity = operation({
  summary: 'List the signals about an entity, the latest detected first',
  method: 'GET',
  path,
  also,
  tool: 'signal_by_entity',
  input: z.strictObject({ ...filterFields, entity_id: word }),
  output: signalPage,
  errors: [],
  allow: 'intelligence:read',

  run: (call, { entity_id: subject_id, ...filters }) => pageOfSignals(call, { ...filters, subject_id }),
})
