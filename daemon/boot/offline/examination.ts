// Looks a site over: every check in one list, each of which may fail without taking the others with it.
import type { SiteFolder } from '../site-folder.ts'
import { certificateFindings } from './checks/certificates.ts'
import { channelFindings } from './checks/channels.ts'
import { keyFindings, tokenFindings } from './checks/keys.ts'
import { clockFindings, diskFindings } from './checks/machine.ts'
import { permissionFindings } from './checks/permissions.ts'
import { portFindings } from './checks/ports.ts'
import { profileFindings } from './checks/profile.ts'
import { storeFindings } from './checks/store.ts'
import { type Finding, problem } from './finding.ts'
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
  tokens: tokenFindings,
  tls: certificateFindings,
  ports: portFindings,
  store: storeFindings,
  channels: channelFindings,
}

/** In the order of the checks; `progress` hears which one runs. */
export async function examine(
  folder: SiteFolder,
  env: Environment,
  now: number,
  progress: (text: string) => void,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [name, check] of Object.entries(checks)) {
    progress(`checking ${name}`)
    findings.push(...(await findingsOf(name, check, { folder, env, now })))
  }
  return findings
}

async function findingsOf(name: string, check: Check, given: Examined): Promise<Finding[]> {
  try {
    return await check(given)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return [problem(name, why, 'mend this first, then run `platform doctor` again')]
  }
}
