// The fields of an object that manages a DAG, as pipelines and effects do: its newest deployment, which is a job, and the live DAG.
import * as z from 'zod'
import { jobFields } from '../../../kernel/job/job-fields.ts'
import type { Collection } from '../../../kernel/store/store.ts'
import { assembledDag, dagId } from '../../../shared/assembled-dag/assembled-dag.ts'
import { gitCommit, pinnedFields, workflowRun } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { count, instant, provenanceFields } from '../fields.ts'

/** `rejected`: the check refused the content; `error`: it could not be deployed. Both end by another deployment or deletion. */
export const managedStatus = z.enum(['pending_validation', 'active', 'rejected', 'error', 'paused', 'running'])

export const deploymentFault = z.strictObject({
  reason: z.string().max(4_096),
  path: z.string().optional().meta({ description: 'Field of the assembled DAG' }),
  line: z.int().min(1).optional().meta({ description: 'Line of the content, counted from 1' }),
  commit: gitCommit.optional().meta({ description: 'Commit of the content that the check rejected' }),
})
export type DeploymentFault = z.infer<typeof deploymentFault>

/** `checking`: the scheduler does not have the DAG yet; `triggering`: it has, or was given the time to find it. */
const autoStart = z.strictObject({
  phase: z.enum(['checking', 'triggering']),
  attempts: count,
  reason: z.string().max(4_096).optional(),
})
export type AutoStart = z.infer<typeof autoStart>

/** `commit`: absent until the repository has the content; `looks`: for the end of its check; `outages`: in a row. */
const dagProposal = z.strictObject({
  commit: gitCommit.optional(),
  looks: count,
  outages: count,
  reason: z.string().max(4_096).optional(),
})
export type ProposalState = z.infer<typeof dagProposal>

export const managedFields = {
  ...provenanceFields,
  ...jobFields,
  dag_id: dagId,
  run_on_deploy: z.boolean(),
  request_digest: z.string(),
  /** Of its newest deployment, and of the run that this triggers: absent where a person deployed it. */
  deployed_by: z.literal('ingest:dispatch').optional(),
  status: managedStatus.extract(['pending_validation', 'active', 'rejected', 'error']),
  is_paused: z.boolean(),
  /** While the first run of the newest deployment is awaited. */
  auto_start: autoStart.optional(),
  /** The live DAG; stays while a later content is checked. Absent for one in Python, which Airflow has. */
  dag: assembledDag.optional(),
  /** Of the live content; empty before there is one. */
  dag_digest: z.string(),
  /** Of the live content. */
  ...pinnedFields,
  /** Of the newest deployment, until its content is live or refused. */
  proposal: dagProposal.optional(),
  fault: deploymentFault.optional(),
  /** Number of deployments: the id of the run that one triggers. */
  deployments: count,
}
const managedDag = z.strictObject(managedFields)
export type ManagedDag = z.infer<typeof managedDag>

export function isLive({ dag_digest }: Pick<ManagedDag, 'dag_digest'>): boolean {
  return dag_digest !== ''
}

/** What the interface shows live of a managed DAG. */
export const liveFields = {
  ...pinnedFields,
  check: dagProposal.optional().meta({ description: 'While the DAG repository checks the newest content' }),
  auto_start: autoStart.optional().meta({ description: 'While the first run by run_on_deploy is awaited' }),
  last_run: workflowRun.optional().meta({ description: 'Newest run; read from the scheduler' }),
  workflow_next_run: instant
    .nullable()
    .optional()
    .meta({ description: 'Next run by the interval of the DAG itself; read from the scheduler' }),
}

/** The collection for code that serves each kind alike: it keeps the fields that it does not know, since it changes by spreading. */
export function asManaged<T extends ManagedDag>(collection: Collection<T>): Collection<ManagedDag> {
  return collection as unknown as Collection<ManagedDag>
}
