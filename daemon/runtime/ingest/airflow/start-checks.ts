// Settings of Airflow with which the role must not start.
import { findUnreadableFile } from '../../../boot/host/unreadable-file.ts'
import { isLoopback } from '../../../boot/start-checks.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import { identitySettings, platformSettings } from '../../../kernel/settings/platform-settings.ts'
import type { ProfileProblem } from '../../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../../kernel/settings/settings.ts'
import { settings } from '../../../roles/ingest/settings.ts'

export function findAirflowProblems(resolved: ResolvedSettings): ProfileProblem[] {
  const chosen = getSettings(resolved, settings)
  const { workflow_base_url: url, workflow_verify: verify, workflow_audience: audience } = chosen
  if (url === undefined) return []
  const { protocol, hostname } = new URL(url)
  const { deployment_profile } = getSettings(resolved, platformSettings)
  const isStrict = deployment_profile === 'classified_airgapped' || deployment_profile === 'coalition_federated'
  const isNear = isLoopback(hostname.replace(/^\[|\]$/g, ''))
  const { audiences } = getSettings(resolved, identitySettings)
  const problems: readonly [isWrong: boolean, path: string, message: string][] = [
    [!chosen.workflow_dag_folder, 'ingest.workflow_dag_folder', 'must name the folder that Airflow reads DAGs from'],
    [!chosen.worker_folder, 'ingest.worker_folder', 'must name the folder of datasets that workers of Airflow share'],
    [
      !audiences[audience]?.includes('ingest'),
      `identity.audiences.${audience}`,
      'must list ingest, which acts at Airflow in the name of its callers',
    ],
    [
      isStrict && verify === false,
      'ingest.workflow_verify',
      `${deployment_profile} requires verification of the certificate`,
    ],
    [
      isStrict && protocol === 'http:' && !isNear,
      'ingest.workflow_base_url',
      `${hostname} is not loopback: ${deployment_profile} refuses tokens without TLS (https)`,
    ],
  ]
  return [
    ...problems.flatMap(([isWrong, path, message]) => (isWrong ? [{ path, message }] : [])),
    ...findUnreadableFile('ingest.workflow_verify', typeof verify === 'string' ? verify : undefined),
  ]
}
