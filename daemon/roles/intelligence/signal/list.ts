// Signals of the caller's tenant, the latest detected first.
import * as z from 'zod'
import { operation } from '../../../kernel/operation.ts'
import { ownedPaths } from '../../../kernel/owned.ts'
import { word } from '../fields.ts'
import { filterFields, pageOfSignals, signalPage } from './page.ts'

const [path = '', ...also] = ownedPaths('signal')

export const list = operation({
  summary: 'List signals, the latest detected first',
  method: 'GET',
  path,
  also,
  tool: 'signal_list',
  input: z.strictObject({ ...filterFields, subject_id: word.optional() }),
  output: signalPage,
  errors: [],
  allow: 'intelligence:read',

  run: pageOfSignals,
})
