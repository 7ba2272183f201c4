// The step of a deployment that looks for the end of the check, and makes the DAG live at the repository, in the document and at the
// scheduler.
import { canonicalDigest } from '../../../kernel/encoding/canonical-json.ts'
import type { Refusal } from '../../../kernel/error/errors.ts'
import { completeStep, endJob } from '../../../kernel/job/rules.ts'
import { shortenText } from '../../../kernel/text/shorten-text.ts'
import { dagFileName } from '../../../shared/dag-repository/dag-file-name.ts'
import {
  type DagCheckFault,
  type DagProposal,
  dagRepositoryPart,
} from '../../../shared/dag-repository/dag-repository.ts'
import { type DagContent, workflowSchedulerPart } from '../../../shared/workflow-scheduler/workflow-scheduler.ts'
import { registerForTasks } from '../connection/register-connection.ts'
import { catalogVersion, renderCatalog } from '../operator/catalog-version.ts'
import { faultPointPart } from '../parts.ts'
import { refuseSharedQueue } from '../read-cursor/refuse-shared-queue.ts'
import { findRequestFault } from '../requested-task/requested-task.ts'
import { firstAttempt } from './auto-start.ts'
import { languageOf, tasksOf } from './content-reading.ts'
import { fileOf } from './dag-file.ts'
import type { Deployment } from './deployment-job.ts'
import { changeOf, endWithFault } from './end-deployment.ts'
import { startFirstRun } from './start-first-run.ts'
import { noteOf, orWait, waitLonger } from './use-repository.ts'

/** `commit`: of the content at the pending path. */
export async function publishContent(deployment: Deployment, commit: string): Promise<undefined> {
  const { call, doc, reading } = deployment
  // The catalog of this release may lack an operator that the one before had.
  if ('error' in reading) return await reject(deployment, reading.error)
  if ('fault' in reading) return await reject(deployment, { ...reading.fault, commit })
  const { id: uid, value } = doc
  const name = dagFileName(fileOf(doc), languageOf(reading))
  const proposal = { uid, name, commit }
  const check = await orWait(deployment, call.part(dagRepositoryPart).check(proposal))
  if (check === undefined) return undefined
  if (check.state === 'pending') {
    await waitLonger(deployment, { kind: 'pending', reason: check.reason })
    return undefined
  }
  if (check.state === 'rejected') return await reject(deployment, faultOf(check, commit))
  const dag = tasksOf(reading.content, value.dag_id)
  const refused =
    findRequestFault(call, dag) ?? (refuseSharedQueue(dag) ?? (await deployment.claim?.(call, doc, dag)))?.message
  if (refused !== undefined) return await reject(deployment, { reason: refused, commit })
  return await makeLive(deployment, proposal, reading.content)
}

/** A CI may say as much as it likes. */
const longest_reason = 2_000

function faultOf({ reason, path, line }: DagCheckFault, commit: string) {
  return {
    reason: shortenText(reason, longest_reason),
    ...(path === undefined ? {} : { path }),
    ...(line === undefined ? {} : { line }),
    commit,
  }
}

async function reject({ call, collection, doc }: Deployment, fault: Parameters<typeof endWithFault>[2]) {
  const at = call.nowIso()
  await changeOf(call, collection, doc.id)((stored) => endWithFault(stored, 'rejected', fault, at))
  return undefined
}

async function putDag({ call, doc: { id, value } }: Deployment, content: DagContent): Promise<undefined | Refusal> {
  return await call.part(workflowSchedulerPart).actFor(call).putDag({ dag_id: value.dag_id, pipeline: id }, content)
}

async function makeLive(deployment: Deployment, proposal: DagProposal, content: DagContent): Promise<undefined> {
  const { call, collection, doc, release } = deployment
  const { id, value } = doc
  const change = changeOf(call, collection, id)
  const pass = call.part(faultPointPart)
  pass('ingest-deploy-claimed')
  const note = noteOf(call, `Deploy ${value.dag_id}, deployment ${value.deployments}`)
  const commit = await orWait(deployment, call.part(dagRepositoryPart).publish(proposal, renderCatalog(), note))
  if (commit === undefined) return undefined
  if (commit === 'superseded') {
    // The content of an earlier deployment was proposed late, by a process that has lost it.
    await change((stored) => completeStep({ ...stored, proposal: undefined }))
    return undefined
  }
  pass('ingest-deploy-published')
  const dag = 'python' in content ? undefined : content
  const live = { dag, dag_digest: canonicalDigest(content), commit, catalog_version: catalogVersion() }
  await change((stored) => ({ ...stored, ...live }))
  pass('ingest-deploy-live')
  const unknown = (await registerForTasks(call, dag?.tasks ?? [])) ?? (await putDag(deployment, content))
  const at = call.nowIso()
  if (unknown) {
    await change((stored) => endWithFault(stored, 'error', { reason: unknown.message }, at))
    return undefined
  }
  await release?.(call, doc, tasksOf(content, value.dag_id))
  if (value.run_on_deploy) return await startFirstRun(call, collection, doc, firstAttempt)
  await change((stored) => endJob(stored, 'completed', { status: 'active', proposal: undefined, updated_at: at }))
  return undefined
}
