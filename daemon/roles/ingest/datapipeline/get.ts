// Gets one pipeline with the live state of its DAG.
import { operation } from '../../../kernel/operation/operation.ts'
import { uidInput } from '../fields.ts'
import { objectPaths } from '../object-paths.ts'
import { pipelines, pipelineView } from './model.ts'
import { showPipeline } from './view.ts'

export const get = operation({
  ...objectPaths('datapipeline/{uid}'),
  summary: 'Get one pipeline with its live state',
  method: 'GET',
  tool: 'datapipeline_get',
  input: uidInput,
  output: pipelineView,
  errors: ['not_found'],
  allow: 'ingest:read',
  versioned: true,

  run: async (call, { uid }) => await showPipeline(call, await call.store(pipelines).get(uid)),
})
