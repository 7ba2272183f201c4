// Shows a template of DAGs as JSON Schema of the content of a pipeline.
import * as z from 'zod'
import { refuse } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { jsonSchema, renderSchema, shortText } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { findTemplate } from '../template/catalog.ts'

export const templateFields = {
  name: shortText,
  summary: z.string(),
  schema: jsonSchema.meta({ description: 'JSON Schema of the content of a pipeline of this type' }),
}

export const template = operation({
  ...objectPaths('datapipeline/schema/{template_name}'),
  summary: 'Show a template of DAGs as JSON Schema',
  method: 'GET',
  input: z.strictObject({ template_name: shortText }),
  output: z.strictObject(templateFields).meta({ id: 'DagTemplate' }),
  errors: ['not_found'],
  allow: 'ingest:read',

  async run(_call, { template_name }) {
    const found = findTemplate(template_name)
    if (!found) return refuse('not_found', 'the catalog has no such template: list them without a name')
    const { name, summary, form } = found
    return { name, summary, schema: renderSchema(form) }
  },
})
