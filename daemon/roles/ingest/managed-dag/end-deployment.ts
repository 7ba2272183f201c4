// The end of a deployment without a live DAG, and changes of the document of one.
import type { JobCall } from '../../../kernel/job/job.ts'
import { endJob } from '../../../kernel/job/rules.ts'
import type { Collection } from '../../../kernel/store/store.ts'
import type { DeploymentFault, ManagedDag } from './model.ts'

export function endWithFault(
  value: ManagedDag,
  status: 'rejected' | 'error',
  fault: DeploymentFault,
  at: string,
): ManagedDag {
  return endJob(value, 'failed', { status, fault, auto_start: undefined, proposal: undefined, updated_at: at })
}

export function changeOf(call: JobCall, collection: Collection<ManagedDag>, id: string) {
  return async (rule: (value: ManagedDag) => ManagedDag) =>
    await call.store(collection).update(id, (stored) => ({ next: rule(stored.value), answer: undefined }))
}
