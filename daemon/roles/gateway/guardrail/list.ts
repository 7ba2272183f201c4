// Lists the guardrails of the site, in the order in which they are named in refusals.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { wholeList, wholeListSchema } from '../../../kernel/operation/paging.ts'
import { guardrailsPart } from './guard-call.ts'
import { guardrail } from './model.ts'

export const list = operation({
  summary: 'List the guardrails of the site',
  method: 'GET',
  path: '/api/v2/gateway/guardrail',
  input: z.strictObject({}),
  output: wholeListSchema(guardrail).meta({ id: 'GuardrailList' }),
  errors: [],
  allow: 'gateway:inspect',

  async run(call) {
    return wholeList(call.part(guardrailsPart).guardrails.map(({ searches: _, ...shown }) => shown))
  },
})
