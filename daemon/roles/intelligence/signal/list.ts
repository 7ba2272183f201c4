// Signals of the caller's tenant, the latest detected first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { objectPathAliases } from '../../../shared/object-path/object-path-aliases.ts'
import { shortText } from '../fields.ts'
import { filterFields, listSignals, signalPage } from './list-signals.ts'

const [path = '', ...also] = objectPathAliases('signal')

export const list = operation({
  summary: 'List signals, the latest detected first',
  method: 'GET',
  path,
  also,
  tool: 'signal_list',
  input: z.strictObject({ ...filterFields, subject_id: shortText.optional() }),
  output: signalPage,
  errors: [],
  allow: 'intelligence:read',

  run: listSignals,
})
