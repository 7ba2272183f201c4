// Describes one operator of the catalog with the schemas of its parameters.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { shortText } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { describeOperator, operatorSchema } from '../operator/describe-operator.ts'

export const operator = operation({
  ...objectPaths('effect/schema/{operator_name}'),
  summary: 'Describe an operator with the schemas of its parameters',
  method: 'GET',
  input: z.strictObject({ operator_name: shortText }),
  output: operatorSchema,
  errors: ['not_found'],
  allow: 'ingest:read',

  run: async (_call, { operator_name }) => describeOperator(operator_name),
})
