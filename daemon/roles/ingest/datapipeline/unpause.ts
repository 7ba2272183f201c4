// Resumes the DAG of a pipeline.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { uidInput } from '../fields.ts'
import { pipelineView } from './model.ts'
import { setPaused } from './set-paused.ts'
import { showPipeline } from './view.ts'

export const unpause = operation({
  summary: 'Resume the DAG of a pipeline',
  method: 'POST',
  tool: 'datapipeline_unpause',
  input: uidInput,
  output: pipelineView,
  errors: ['not_found', 'not_your_tenant', 'wrong_state'],
  allow: 'ingest:run',

  async run(call, { uid }) {
    const doc = await setPaused(call, uid, false)
    return isRefusal(doc) ? doc : await showPipeline(call, doc)
  },
})
