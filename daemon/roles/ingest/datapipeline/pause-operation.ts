// Declares an operation that pauses the DAG of a pipeline, or resumes it.
import { isRefusal } from '../../../kernel/error/errors.ts'
import { operation } from '../../../kernel/operation/operation.ts'
import { uidInput } from '../fields.ts'
import { pipelineView } from './model.ts'
import { setPaused } from './set-paused.ts'
import { showPipeline } from './view.ts'

export function pauseOperation(declaration: { readonly summary: string; readonly tool: string }, isPaused: boolean) {
  return operation({
    ...declaration,
    method: 'POST',
    input: uidInput,
    output: pipelineView,
    errors: ['not_found', 'not_your_tenant', 'wrong_state'],
    allow: 'ingest:run',

    async run(call, { uid }) {
      const doc = await setPaused(call, uid, isPaused)
      return isRefusal(doc) ? doc : await showPipeline(call, doc)
    },
  })
}
