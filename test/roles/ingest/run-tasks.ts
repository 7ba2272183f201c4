// Runs tasks as a pipeline, until the run is over or the deployment refused.
import { errors } from '../../../daemon/roles/ingest/dag-run/errors.ts'
import { deploy } from '../../../daemon/roles/ingest/datapipeline/deploy.ts'
import { list } from '../../../daemon/roles/ingest/datapipeline/list.ts'
import { run } from '../../../daemon/roles/ingest/datapipeline/run.ts'
import { type IngestSite, runFolder, waitUntilDeployed, waitUntilRunOver } from './ingest-site.ts'

type TaskRun = {
  readonly uid: string
  readonly fault?: { readonly reason: string; readonly path?: string | undefined } | undefined
  readonly state?: string
  readonly log?: string | undefined
  /** The folder of its datasets. */
  readonly run?: string
}

/** `tasks`: undefined to run the pipeline again. */
export async function deployAndRun(
  site: IngestSite,
  dag_id: string,
  tasks: readonly object[] | undefined,
): Promise<TaskRun> {
  const ann = await site.as()
  if (!tasks) {
    const { items } = await ann.ok(list, {})
    const uid = items.find((each) => each.dag_id === dag_id)?.uid ?? ''
    const { dag_run_id } = await ann.ok(run, { uid })
    return { uid, ...(await endOf(ann, dag_id, dag_run_id)) }
  }
  const content = JSON.stringify({ format: 1, dag_id, tasks: tasks.map((task) => ({ retries: 0, ...task })) })
  const { uid } = await ann.ok(deploy, { dag_id, content, run_on_deploy: true })
  const { status, fault } = await waitUntilDeployed(ann, uid)
  if (status === 'rejected') return { uid, fault }
  const end = await endOf(ann, dag_id, 'deploy__1')
  return { uid, ...end, run: runFolder(site, uid) }
}

async function endOf(person: Awaited<ReturnType<IngestSite['as']>>, dag_id: string, dag_run_id: string) {
  const { state } = await waitUntilRunOver(person, dag_id, dag_run_id)
  const { items } = await person.ok(errors, { dag_id, dag_run_id })
  return { state, log: items[0]?.log }
}
