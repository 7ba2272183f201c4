// Lists the operators of which effects consist.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { objectPaths } from '../object-paths.ts'
import { listOperators, operatorList } from '../operator/describe-operator.ts'

export const operators = operation({
  ...objectPaths('effect/schema'),
  summary: 'List the operators of which effects consist',
  method: 'GET',
  input: z.strictObject({}),
  output: operatorList,
  errors: [],
  allow: 'ingest:read',

  run: async () => listOperators(),
})
