// Settings of the DAG repository with which the role must not start.
import { findUnreadableFile } from '../../../boot/host/unreadable-file.ts'
import { isLoopback } from '../../../boot/start-checks.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import { platformSettings } from '../../../kernel/settings/platform-settings.ts'
import type { ProfileProblem } from '../../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../../kernel/settings/settings.ts'
import { settings } from '../../../roles/ingest/settings.ts'

export function findRepositoryProblems(resolved: ResolvedSettings): ProfileProblem[] {
  const chosen = getSettings(resolved, settings)
  const { dag_repo_url: url, dag_repo_dag_path, dag_repo_pending_path, dag_repo_catalog_path } = chosen
  const paths = [dag_repo_dag_path, dag_repo_pending_path, dag_repo_catalog_path]
  const otherPaths = [dag_repo_pending_path, dag_repo_catalog_path]
  const problems: readonly (readonly [isWrong: boolean, path: string, message: string])[] = [
    [new Set(paths).size < 3, 'ingest.dag_repo_dag_path', 'must differ from the pending path and that of the catalog'],
    [
      otherPaths.includes(chosen.dag_repo_test_path),
      'ingest.dag_repo_test_path',
      'must differ from the pending path and that of the catalog',
    ],
    [!url && !!chosen.dag_repo_project, 'ingest.dag_repo_url', 'must name the git host of the project'],
    [!url && !!chosen.dag_repo_check, 'ingest.dag_repo_url', 'must name the git host of the check'],
    [!!url && !chosen.dag_repo_token, 'ingest.dag_repo_token', 'must be a token of the site at the git host'],
    [!!url && !chosen.dag_repo_project, 'ingest.dag_repo_project', 'must name the project at the git host'],
    [!!url && isOpenTransport(resolved, url), 'ingest.dag_repo_url', 'must use TLS (https) in this deployment profile'],
  ]
  return [
    ...problems.flatMap(([isWrong, path, message]) => (isWrong ? [{ path, message }] : [])),
    ...findUnreadableFile('ingest.dag_repo_ca_file', chosen.dag_repo_ca_file),
  ]
}

/** A token without TLS beyond this machine. */
function isOpenTransport(resolved: ResolvedSettings, url: string): boolean {
  const { deployment_profile } = getSettings(resolved, platformSettings)
  const isStrict = deployment_profile === 'classified_airgapped' || deployment_profile === 'coalition_federated'
  const { protocol, hostname } = new URL(url)
  return isStrict && protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, ''))
}
