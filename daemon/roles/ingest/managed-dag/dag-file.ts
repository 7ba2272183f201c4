// The file of a managed DAG in the DAG repository: that of a journey test is in the folder of tests.
import type { Doc } from '../../../kernel/store/store.ts'
import type { ManagedDagName } from '../../../shared/dag-repository/dag-file-name.ts'
import { journeyTest } from '../template/catalog.ts'
import type { ManagedDag } from './model.ts'

/** `value`: of a pipeline with its type, or of an effect, which has none. */
export function fileOf({ id: uid, value }: Doc<ManagedDag & { readonly pipeline_type?: string }>): ManagedDagName {
  return { uid, dag_id: value.dag_id, isTest: value.pipeline_type === journeyTest.name }
}
