// Pipelines as objects that manage a DAG.
import type { ManagedKind } from '../managed-dag/kind.ts'
import { pipelineState, pipelines, pipelineView, type StoredPipeline } from './model.ts'
import { showPipeline } from './view.ts'

export const pipelineKind: ManagedKind<StoredPipeline, typeof pipelineView, typeof pipelineState> = {
  object: 'datapipeline',
  noun: 'a pipeline',
  nouns: 'pipelines',
  collection: pipelines,
  view: pipelineView,
  state: pipelineState,
  show: showPipeline,
  showState: async (call, doc) => pipelineState.strip().parse(await showPipeline(call, doc)),
}
