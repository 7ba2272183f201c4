// Checks whether this machine can hold the tool servers that the gateway runs, and whether their programs are there.
import { accessSync, constants } from 'node:fs'
import { openSandbox } from '../../../../adapters/sandbox/linux/open-sandbox.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import { settings } from '../../../roles/gateway/settings.ts'
import type { StdioServerSettings } from '../../../roles/gateway/stdio-server/model.ts'
import { findWeakness, probeLimits } from '../../../roles/gateway/stdio-server/rules.ts'
import { readSiteSettings } from '../../site/site-profile.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportOk, reportProblem } from '../finding.ts'

export async function checkStdioServers({ folder, env }: DoctorContext): Promise<DoctorFinding[]> {
  const { resolved, platform } = readSiteSettings(folder, env)
  const servers = Object.entries(getSettings(resolved, settings).stdio_servers)
  if (servers.length === 0 || !platform.roles.includes('gateway')) return []
  const fault = await findSandboxFault(servers.map(([, server]) => server))
  if (fault !== undefined) return [reportProblem('stdio.sandbox_unusable', fault, sandbox_remedy)]
  return servers.map(([name, { command }]) =>
    isProgram(command[0])
      ? reportOk('stdio', `${name} can be started in the sandbox`)
      : reportProblem(
          'stdio.program_missing',
          `${name}: ${command[0]} is not a program`,
          'install it, or correct its path',
        ),
  )
}

async function findSandboxFault(servers: readonly StdioServerSettings[]): Promise<string | undefined> {
  try {
    return findWeakness(await openSandbox(probeLimits(servers)))
  } catch (error) {
    return (error as Error).message
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const sandbox_remedy =
  'allow user namespaces to the user of the site (sysctl user.max_user_namespaces, and AppArmor); no server runs without them'
