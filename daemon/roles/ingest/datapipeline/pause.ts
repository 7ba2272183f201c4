// Pauses the DAG of a pipeline.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { uidInput } from '../fields.ts'
import { pipelineView } from './model.ts'
import { setPaused } from './set-paused.ts'
import { showPipeline } from './view.ts'

export const pause = operation({
  summary: 'Pause the DAG of a pipeline',
  method: 'POST',
  tool: 'datapipeline_pause',
  input: uidInput,
  output: pipelineView,
  errors: ['not_found', 'not_your_tenant', 'wrong_state'],
  allow: 'ingest:run',

  async run(call, { uid }) {
    const doc = await setPaused(call, uid, true)
    return isRefusal(doc) ? doc : await showPipeline(call, doc)
  },
})
