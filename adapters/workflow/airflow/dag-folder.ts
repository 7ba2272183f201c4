// The folder of DAG files that Airflow reads: one file for each object of the site, whole or not there.
import { chmod, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Refusal } from '../../../daemon/kernel/error/errors.ts'
import type { AssembledDag, DagTask } from '../../../daemon/shared/assembled-dag/assembled-dag.ts'
import type { DagContent } from '../../../daemon/shared/workflow-scheduler/workflow-scheduler.ts'
import { writeDurablyAsync } from '../../platform/durable-file/write-durably.ts'
import { type ManagedName, managedName, versionTag } from './dag-names.ts'
import { renderDag, renderPython } from './render-dag.ts'
import { type RenderedScheduler, renderScheduler } from './scheduler-dag.ts'

export type DagFolder = {
  /** Replaces the file of the object; the same content gives the same file. Throws `Refusal('unavailable')`. */
  put(of: ManagedName, content: DagContent): Promise<void>
  /** Replaces the file of the scheduler DAG of a site. Throws `Refusal('unavailable')`. */
  putScheduler(rendered: RenderedScheduler): Promise<void>
  /** Throws `Refusal('unavailable')`. */
  remove(uid: string): Promise<void>
}

/** Airflow runs as another user, who reads the files by the group of the folder; nobody else does. */
const mode = 0o640

type DagFolderOptions = {
  /** Of a step on a worker. */
  readonly command: readonly string[]
  readonly site: string
  /** Whether the site performs the task, since no worker can. */
  isSiteTask(task: DagTask): boolean
}

export function dagFolder(folder: string, { command, site, isSiteTask }: DagFolderOptions): DagFolder {
  const findSiteTasks = ({ dag_digest }: ManagedName, { tasks }: AssembledDag) => {
    const names = tasks.filter(isSiteTask).map(({ name }) => name)
    return names.length === 0 ? {} : { site: { name: site, dag_digest, tasks: names } }
  }
  return {
    async put(of, content) {
      const { tenant_id, uid: pipeline, dag_id, dag_digest } = of
      const airflow_id = managedName(of)
      const version = versionTag(dag_digest)
      const text =
        'python' in content
          ? renderPython({ airflow_id, dag_id, version, text: content.python })
          : renderDag({
              airflow_id,
              tenant_id,
              pipeline,
              version,
              command,
              dag: content,
              ...findSiteTasks(of, content),
            })
      await overFolder(() => writeFile(fileOf(folder, pipeline), text))
    },
    async putScheduler(rendered) {
      await overFolder(() =>
        writeFile(join(folder, `platform_scheduler_${rendered.site}.py`), renderScheduler(rendered)),
      )
    },
    async remove(uid) {
      await overFolder(() => rm(fileOf(folder, uid), { force: true }))
    },
  }
}

/** The mode is that of the file whatever the process leaves out of the modes of its files. */
async function writeFile(file: string, text: string): Promise<void> {
  const draft = join(dirname(file), `.${basename(file)}.draft`)
  const beforeRename = () => chmod(draft, mode)
  await writeDurablyAsync(file, text, { draft, existing_draft: 'overwrite', beforeRename })
}

/** Drafts begin with a dot, and Airflow reads names that end in .py alone. */
function fileOf(folder: string, uid: string): string {
  if (!/^(?:pl|ef)_[0-9A-Za-z_-]{1,120}$/.test(uid)) throw new Error('the object has an id that no file may have')
  return join(folder, `platform_${uid}.py`)
}

/** Without the path, which is of the machine. */
async function overFolder(action: () => Promise<void>): Promise<void> {
  try {
    await action()
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (syscall === undefined) throw error
    throw new Refusal(
      'unavailable',
      `the DAG folder of Airflow cannot be written: ${code}; see ingest.workflow_dag_folder`,
    )
  }
}
