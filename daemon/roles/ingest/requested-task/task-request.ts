// The request of a task to another role, as the job of its run makes it.
import type { Refusal } from '../../../kernel/error/errors.ts'
import type { JobCall } from '../../../kernel/job/job.ts'
import type { DagTask } from '../../../shared/assembled-dag/assembled-dag.ts'
import type { RequestedWork } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import type { TaskFailure } from '../parts.ts'
import type { StoredDagRun } from '../runner/model.ts'

/** `requested`: what the other role made of it; absent where the profile turns that off. */
type RequestedTaskEnd = { readonly log: string; readonly requested?: RequestedWork }
export type RequestedTaskOutcome = RequestedTaskEnd | (RequestedTaskEnd & { readonly failure: TaskFailure })

/** The other role is at work: the next look may see its end. `waits`: what it does. */
export type OpenRequest = { readonly requested: RequestedWork; readonly waits: string }

export type RequestingRun = { readonly id: string; readonly run: StoredDagRun; readonly task: DagTask }

/** Repeatable, with the same effect. A refusal fails the task for good, a `failure` this try; throws what the next look may cure. */
export type TaskRequest = (
  call: JobCall,
  requesting: RequestingRun,
) => Promise<RequestedTaskOutcome | OpenRequest | Refusal>
