// The catalog of operators as one document: each with the JSON Schema of its parameters, and the templates of DAGs.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { shortText } from '../fields.ts'
import { templates } from '../template/catalog.ts'
import { describeOperators, operatorSchema } from './describe-operator.ts'

export const list = operation({
  summary: 'Show the catalog: operators with the schemas of their parameters, and templates of DAGs',
  method: 'GET',
  surface: 'agentspace',
  input: z.strictObject({}),
  output: z
    .strictObject({
      operators: z.array(operatorSchema),
      ingest_patterns: z
        .array(z.strictObject({ name: shortText, summary: z.string() }))
        .meta({ description: 'Templates of DAGs, which the type of a pipeline may name' }),
    })
    .meta({ id: 'OperatorCatalog' }),
  errors: [],
  allow: 'ingest:read',

  run: async () => ({
    operators: describeOperators(),
    ingest_patterns: templates.map(({ name, summary }) => ({ name, summary })),
  }),
})
