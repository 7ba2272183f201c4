// Looks a site over: every check in one list, each of which may fail without taking the others with it.
import type { SiteFolder } from '../site-folder.ts'
import { certificateFindings } from './checks/certificates.ts'
import { channelFindings } from './checks/channels.ts'
import { clientCertificateFindings } from './checks/client-certificates.ts'
import { clockFindings } from './checks/clock.ts'
import { diskFindings } from './checks/file-systems.ts'
import { identityProviderFindings } from './checks/identity-provider.ts'
import { keyFindings, passphraseFindings, tokenFindings } from './checks/keys.ts'
import { labelFindings } from './checks/labels.ts'
import { mtlsFindings } from './checks/mtls.ts'
import { networkFindings } from './checks/networks.ts'
import { permissionFindings } from './checks/permissions.ts'
import { portFindings } from './checks/ports.ts'
import { profileFindings } from './checks/profile.ts'
import { storeFindings } from './checks/store.ts'
import { trafficFindings } from './checks/traffic.ts'
import { watcherFindings } from './checks/watchers.ts'
import { type Finding, problem, warning } from './finding.ts'
import type { Environment } from './site-profile.ts'

export type Examined = {
  readonly folder: SiteFolder
  readonly env: Environment
  /** Epoch milliseconds. */
  readonly now: number
}

type Check = (given: Examined) => Finding[] | Promise<Finding[]>

const checks: Readonly<Record<string, Check>> = {
  profile: profileFindings,
  permissions: permissionFindings,
  clock: clockFindings,
  disk: diskFindings,
  keys: keyFindings,
  passphrase: passphraseFindings,
  tokens: tokenFindings,
  tls: certificateFindings,
  sso: identityProviderFindings,
  x509: clientCertificateFindings,
  mtls: mtlsFindings,
  networks: networkFindings,
  ports: portFindings,
  store: storeFindings,
  channels: channelFindings,
  traffic: trafficFindings,
  labels: labelFindings,
  watchers: watcherFindings,
}

/** In the order of the checks; `progress` hears which one runs. What keeps several of them from looking is told once. */
export async function examine(
  folder: SiteFolder,
  env: Environment,
  now: number,
  progress: (text: string) => void,
): Promise<Finding[]> {
  const findings: Finding[] = []
  const hindrances: Hindrance[] = []
  for (const [name, check] of Object.entries(checks)) {
    progress(`checking ${name}`)
    try {
      findings.push(...(await check({ folder, env, now })))
    } catch (error) {
      hindrances.push({ check: name, why: error instanceof Error ? error.message : String(error) })
    }
  }
  return [...findings, ...hindered(hindrances, findings)]
}

/** Why a check could not look at all. */
type Hindrance = { readonly check: string; readonly why: string }

const again = 'mend this first, then run `platform doctor` again'

/** Once for each cause, and once for all whose cause is a path that another check has told of. */
function hindered(hindrances: readonly Hindrance[], findings: readonly Finding[]): Finding[] {
  const paths = findings.flatMap((finding) => finding.paths ?? [])
  const causes = Map.groupBy(hindrances, ({ why }) => (paths.some((path) => why.startsWith(`${path} `)) ? '' : why))
  return [...causes].map(([why, group]) => {
    const names = group.map(({ check }) => check)
    const [first = ''] = names
    if (why === '') return warning(first, `not looked at for what is said above: ${names.join(', ')}`, again)
    return problem(first, names.length === 1 ? why : `${why} (so for ${names.join(', ')})`, again)
  })
}
