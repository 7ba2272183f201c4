// Lists signals of the caller's tenant, the latest detected first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { shortText } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { filterFields, listSignals, signalPage } from './list-signals.ts'

export const list = operation({
  summary: 'List signals, the latest detected first',
  method: 'GET',
  ...objectPaths('signal'),
  tool: 'signal_list',
  input: z.strictObject({ ...filterFields, subject_id: shortText.optional() }),
  output: signalPage,
  errors: [],
  allow: 'intelligence:read',

  run: listSignals,
})
