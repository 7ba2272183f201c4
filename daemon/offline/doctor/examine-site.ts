// Examines a site: one list of checks, each of which may fail without affecting the others.
import { findMissingPath } from '../../../adapters/platform/missing-path/missing-path.ts'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import type { EnvironmentVariables } from '../site/site-profile.ts'
import { checkArrivalFolders } from './checks/arrival-folders.ts'
import { checkCertificates } from './checks/certificates.ts'
import { checkChannels } from './checks/channels.ts'
import { checkClientCertificates } from './checks/client-certificates.ts'
import { checkClock } from './checks/clock.ts'
import { checkContributors } from './checks/contributors.ts'
import { checkFileSystems } from './checks/file-systems.ts'
import { checkIdentityProvider } from './checks/identity-provider.ts'
import { checkKeys, checkPassphrase, checkTokenLists } from './checks/keys.ts'
import { checkLabels } from './checks/labels.ts'
import { checkMtls } from './checks/mtls.ts'
import { checkNetworks } from './checks/networks.ts'
import { checkPermissions } from './checks/permissions.ts'
import { checkPorts } from './checks/ports.ts'
import { checkProfile } from './checks/profile.ts'
import { checkResults } from './checks/results.ts'
import { checkRulings } from './checks/rulings.ts'
import { checkSandbox } from './checks/sandbox.ts'
import { checkSecrets } from './checks/secrets.ts'
import { checkStdioServers } from './checks/stdio-servers.ts'
import { checkStore } from './checks/store.ts'
import { checkTraffic } from './checks/traffic.ts'
import { checkWatchers } from './checks/watchers.ts'
import { type DoctorFinding, reportProblem, reportWarning } from './finding.ts'

export type DoctorContext = {
  readonly folder: SiteFolder
  readonly env: EnvironmentVariables
  /** Epoch milliseconds. */
  readonly now: number
}

type DoctorCheck = (context: DoctorContext) => DoctorFinding[] | Promise<DoctorFinding[]>

const doctorChecks: Readonly<Record<string, DoctorCheck>> = {
  profile: checkProfile,
  permissions: checkPermissions,
  clock: checkClock,
  disk: checkFileSystems,
  keys: checkKeys,
  passphrase: checkPassphrase,
  secrets: checkSecrets,
  tokens: checkTokenLists,
  tls: checkCertificates,
  sso: checkIdentityProvider,
  x509: checkClientCertificates,
  mtls: checkMtls,
  networks: checkNetworks,
  ports: checkPorts,
  store: checkStore,
  channels: checkChannels,
  traffic: checkTraffic,
  results: checkResults,
  rulings: checkRulings,
  contributors: checkContributors,
  labels: checkLabels,
  watchers: checkWatchers,
  arrivals: checkArrivalFolders,
  sandbox: checkSandbox,
  stdio: checkStdioServers,
}

/**
 * Runs the checks in order; `progress` is called with the name of each. A cause that blocks several checks is reported
 * once.
 */
export async function examineSite(
  folder: SiteFolder,
  env: EnvironmentVariables,
  now: number,
  progress: (text: string) => void,
): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = []
  const failures: CheckFailure[] = []
  for (const [name, check] of Object.entries(doctorChecks)) {
    progress(`checking ${name}`)
    try {
      findings.push(...(await check({ folder, env, now })))
    } catch (error) {
      failures.push({ check: name, ...describeFailure(error) })
    }
  }
  return [...findings, ...reportCheckFailures(failures, findings)]
}

/** The reason why a check could not run. */
type CheckFailure = { readonly check: string; readonly reason: string; readonly remedy: string }

function describeFailure(error: unknown): Omit<CheckFailure, 'check'> {
  const missing = findMissingPath(error)
  if (missing) return { reason: missing.message, remedy: missing.remedy }
  return { reason: error instanceof Error ? error.message : String(error), remedy: retry_remedy }
}

const retry_remedy = 'repair this first, then run `platform doctor` again'

/** Reports each cause once, and combines those whose path another check has reported. */
function reportCheckFailures(failures: readonly CheckFailure[], findings: readonly DoctorFinding[]): DoctorFinding[] {
  const paths = findings.flatMap((finding) => finding.paths ?? [])
  const causes = Map.groupBy(failures, ({ reason }) =>
    paths.some((path) => reason.startsWith(`${path} `)) ? '' : reason,
  )
  return [...causes].map(([reason, group]) => {
    const names = group.map(({ check }) => check)
    const [{ check: first, remedy } = { check: '', remedy: retry_remedy }] = group
    if (reason === '')
      return {
        ...reportWarning(
          'doctor.not_checked',
          `not checked because of the problem above: ${names.join(', ')}`,
          retry_remedy,
        ),
        check: first,
      }
    const detail = names.length === 1 ? reason : `${reason} (checks: ${names.join(', ')})`
    return { ...reportProblem('doctor.check_failed', detail, remedy), check: first }
  })
}
