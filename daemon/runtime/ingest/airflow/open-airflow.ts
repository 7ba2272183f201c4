// Opens Airflow as the workflow scheduler of the role, by its settings.
import { readFile } from 'node:fs/promises'
import { airflowScheduler } from '../../../../adapters/workflow/airflow/airflow-scheduler.ts'
import { type DagFolder, dagFolder } from '../../../../adapters/workflow/airflow/dag-folder.ts'
import type { DagNames, ManagedName } from '../../../../adapters/workflow/airflow/dag-names.ts'
import type { WireContext } from '../../../boot/role-wire.ts'
import type { Dependency } from '../../../kernel/role/dependency.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import type { SettingValues } from '../../../kernel/settings/settings.ts'
import type { Doc } from '../../../kernel/store/store.ts'
import { findManaged, iterateManaged } from '../../../roles/ingest/managed-dag/find-managed.ts'
import { isLive, type ManagedDag } from '../../../roles/ingest/managed-dag/model.ts'
import { isSiteTask } from '../../../roles/ingest/partial-run/is-site-task.ts'
import { runWatch } from '../../../roles/ingest/run-watch/watch-run.ts'
import { newest_tick, scheduleTicks as scheduleTickDocuments } from '../../../roles/ingest/schedule-tick/model.ts'
import { settings } from '../../../roles/ingest/settings.ts'
import { scheduleTicks } from './schedule-ticks.ts'
import { siteTaskHandover } from './site-task-handover.ts'

type AirflowSettings = SettingValues<typeof settings>

type AirflowContext = Pick<WireContext, 'log' | 'storage'> & {
  readonly resources: Pick<WireContext['resources'], 'resolved' | 'site' | 'clock'>
}

/** The start checks have refused settings without a folder. */
export async function openAirflow({ resources, storage, log }: AirflowContext, base_url: string) {
  const chosen = getSettings(resources.resolved, settings)
  const { workflow_verify: verify, workflow_dag_folder: folder = '' } = chosen
  const { name: site } = resources.site
  const dags = dagFolder(folder, { command: buildStepCommand(chosen), site, isSiteTask })
  const ticks = openTicks({ resources, storage, log }, chosen, dags)
  const scheduler = airflowScheduler({
    ...{ base_url, version: chosen.workflow_api_version, audience: chosen.workflow_audience },
    verify: typeof verify === 'string' ? await readFile(verify, 'utf8') : verify,
    timeout_ms: chosen.workflow_timeout_s * 1_000,
    folder: dags,
    names: siteDagNames,
    watch: runWatch,
  })
  const dependency: Dependency = {
    name: 'schedule ticks',
    probe: async () => ticks.find((await storage.store.get(scheduleTickDocuments, newest_tick))?.value.noticed_ts),
  }
  const handover = siteTaskHandover({ folder: chosen.worker_folder ?? '', site, log })
  return { scheduler: { ...scheduler, ticks }, dependency, handover }
}

function openTicks({ resources, log }: AirflowContext, chosen: AirflowSettings, dags: DagFolder) {
  const { worker_command, worker_folder = '', scheduler_tick_minutes: interval_minutes } = chosen
  const { name: site } = resources.site
  const command = [worker_command, 'ingest', 'tick', site, '--folder', worker_folder]
  return scheduleTicks({
    ...{ folder: worker_folder, site, interval_ms: interval_minutes * 60_000, log, now: resources.clock.now },
    install: async () => await dags.putScheduler({ site, interval_minutes, command }),
  })
}

/** The command of a step on a worker, as a list: no shell reads it. */
function buildStepCommand(chosen: AirflowSettings): string[] {
  const { worker_command, worker_folder = '', trusted_networks, task_memory_mb } = chosen
  const data = chosen.worker_data_folder ?? chosen.data_folder
  const output = chosen.worker_output_folder ?? chosen.output_folder
  return [
    ...[worker_command, 'ingest', 'step', '-', '--folder', worker_folder],
    ...(data === undefined ? [] : ['--data-folder', data]),
    ...(output === undefined ? [] : ['--output-folder', output]),
    ...(trusted_networks.length === 0 ? [] : ['--trusted-networks', trusted_networks.join(',')]),
    ...['--memory', `${task_memory_mb}`],
  ]
}

/** DAGs of the pipelines and effects that a caller sees. */
const siteDagNames: DagNames = {
  async find(call, dag) {
    const doc = await findManaged(call, dag)
    return doc && nameOf(doc)
  },
  async *list(call) {
    for await (const doc of iterateManaged(call)) {
      const name = nameOf(doc)
      if (name) yield name
    }
  },
}

/** Undefined for an object whose DAG is not live yet. */
function nameOf({ id, value }: Doc<ManagedDag>): ManagedName | undefined {
  const { dag_id, tenant_id, label, dag_digest } = value
  return isLive(value) ? { dag_id, uid: id, tenant_id, label, dag_digest } : undefined
}
