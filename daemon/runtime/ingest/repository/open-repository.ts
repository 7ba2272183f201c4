// Opens the DAG repository of the role by its settings: a bare repository on this machine where they name no git host.
import { join } from 'node:path'
import { takeLock } from '../../../../adapters/store/sqlite/lock.ts'
import type { WireContext } from '../../../boot/role-wire.ts'
import { roleDataFolder, roleRunFolder } from '../../../boot/storage/site-folder.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import type { ResolvedSettings } from '../../../kernel/settings/settings.ts'
import { settings } from '../../../roles/ingest/settings.ts'
import type { DagRepository } from '../../../shared/dag-repository/dag-repository.ts'
import type { RepositoryLayout } from '../../../shared/dag-repository/repository-layout.ts'
import { dagFileCheck } from './check-dag-file.ts'
import { localRepository } from './open-local.ts'

export function openDagRepository(context: WireContext): DagRepository {
  const { folder, resolved } = context.resources
  const home = roleDataFolder(folder, 'ingest')
  return localRepository({
    gitdir: join(home, 'dags.git'),
    layout: readLayout(resolved),
    takeLock: () => takeLock(join(home, 'dags.lock'), roleRunFolder(folder, 'ingest')),
    check: dagFileCheck(context.log),
  })
}

function readLayout(resolved: ResolvedSettings): RepositoryLayout {
  const chosen = getSettings(resolved, settings)
  return {
    branch: chosen.dag_repo_branch,
    dag_path: chosen.dag_repo_dag_path,
    pending_path: chosen.dag_repo_pending_path,
    catalog_path: chosen.dag_repo_catalog_path,
  }
}
