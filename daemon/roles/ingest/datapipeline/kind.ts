// Pipelines as objects that manage a DAG.
import type { ManagedKind } from '../managed-dag/kind.ts'
import { pipelines, pipelineView, type StoredPipeline } from './model.ts'
import { showPipeline } from './view.ts'

export const pipelineKind: ManagedKind<StoredPipeline, typeof pipelineView> = {
  object: 'datapipeline',
  noun: 'a pipeline',
  collection: pipelines,
  view: pipelineView,
  show: showPipeline,
}
