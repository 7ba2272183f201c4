// The tool that lists the operators of the catalog, or describes one of them.
import * as z from 'zod'
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { shortText } from '../fields.ts'
import { describeOperator, listOperators, operatorList, operatorSchema } from '../operator/describe-operator.ts'

export const schema = operation({
  summary: 'List the operators of which effects consist, or describe one with the schemas of its parameters',
  method: 'GET',
  tool: 'effect_schema',
  input: z.strictObject({ operator_name: shortText.optional().meta({ description: 'Absent: all operators' }) }),
  output: z
    .strictObject({
      ...operatorList.partial().shape,
      operator: operatorSchema.optional().meta({ description: 'The one that was named' }),
    })
    .meta({ id: 'EffectSchema' }),
  errors: ['not_found'],
  allow: 'ingest:read',

  async run(_call, { operator_name }) {
    if (operator_name === undefined) return listOperators()
    const operator = describeOperator(operator_name)
    return isRefusal(operator) ? operator : { operator }
  },
})
