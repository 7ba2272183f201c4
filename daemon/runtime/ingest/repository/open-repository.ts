// Opens the DAG repository of the role by its settings: a bare repository on this machine where they name no git host.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitHost } from '../../../../adapters/dag-repository/host/git-host.ts'
import type { GitlabHost } from '../../../../adapters/dag-repository/host/gitlab-host.ts'
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

export async function openDagRepository(context: WireContext): Promise<DagRepository> {
  const { folder, resolved } = context.resources
  const { dag_repo_url } = getSettings(resolved, settings)
  if (dag_repo_url !== undefined) return await openHostedRepository(resolved, dag_repo_url)
  const home = roleDataFolder(folder, 'ingest')
  return localRepository({
    gitdir: join(home, 'dags.git'),
    layout: readLayout(resolved),
    takeLock: () => takeLock(join(home, 'dags.lock'), roleRunFolder(folder, 'ingest')),
    check: dagFileCheck(context.log),
  })
}

/** The start checks have refused settings without token and project. */
async function openHostedRepository(resolved: ResolvedSettings, base_url: string): Promise<DagRepository> {
  const chosen = getSettings(resolved, settings)
  const { dag_repo_token: token = '', dag_repo_project: project = '', dag_repo_ca_file: ca_file } = chosen
  const { HostedRepository } = await import('../../../../adapters/dag-repository/host/hosted-repository.ts')
  const ca = ca_file === undefined ? undefined : await readFile(ca_file, 'utf8')
  const check = chosen.dag_repo_check
  const server = { base_url, ca, token, project, check, timeout_ms: chosen.dag_repo_timeout_s * 1_000 }
  const openHost = chosen.dag_repo_kind === 'gitlab' ? openGitlab : openGitea
  return new HostedRepository(await openHost(server), readLayout(resolved))
}

type HostOptions = ConstructorParameters<typeof GitlabHost>[0]

async function openGitlab(server: HostOptions): Promise<GitHost> {
  const { GitlabHost } = await import('../../../../adapters/dag-repository/host/gitlab-host.ts')
  return new GitlabHost(server)
}

async function openGitea(server: HostOptions): Promise<GitHost> {
  const { GiteaHost } = await import('../../../../adapters/dag-repository/host/gitea-host.ts')
  return new GiteaHost(server)
}

function readLayout(resolved: ResolvedSettings): RepositoryLayout {
  const chosen = getSettings(resolved, settings)
  return {
    branch: chosen.dag_repo_branch,
    dag_path: chosen.dag_repo_dag_path,
    test_path: chosen.dag_repo_test_path,
    pending_path: chosen.dag_repo_pending_path,
    catalog_path: chosen.dag_repo_catalog_path,
  }
}
