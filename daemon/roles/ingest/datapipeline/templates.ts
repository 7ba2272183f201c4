// Lists the templates of DAGs.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { wholeList, wholeListSchema } from '../../../kernel/operation/paging.ts'
import { objectPaths } from '../object-paths.ts'
import { templates as known } from '../template/catalog.ts'
import { templateFields } from './template.ts'

const { name, summary } = templateFields

export const templates = operation({
  ...objectPaths('datapipeline/schema'),
  summary: 'List the templates that the type of a pipeline may name',
  method: 'GET',
  input: z.strictObject({}),
  output: wholeListSchema(z.strictObject({ name, summary })).meta({ id: 'DagTemplateList' }),
  errors: [],
  allow: 'ingest:read',

  run: async () => wholeList(known.map(({ name, summary }) => ({ name, summary }))),
})
