// Checks what the kernel of this machine gives to bound the commands that the site runs, if it runs any.

import { bodyScanner, scanLimits } from '../../../../adapters/platform/body-scanner/body-scanner.ts'
import { trialBody } from '../../../../adapters/platform/body-scanner/trial-body.ts'
import { openSandbox } from '../../../../adapters/sandbox/linux/open-sandbox.ts'
import type { Sandbox } from '../../../kernel/sandbox/sandbox.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import { filedropSettings } from '../../../roles/site/settings.ts'
import { readSiteSettings } from '../../site/site-profile.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportOk, reportProblem, reportWarning } from '../finding.ts'

export async function checkSandbox({ folder, env }: DoctorContext): Promise<DoctorFinding[]> {
  const { resolved, platform, labels } = readSiteSettings(folder, env)
  const { scanner } = getSettings(resolved, filedropSettings)
  if (!scanner) return []
  try {
    const sandbox = await openSandbox(scanLimits(scanner))
    const fault = await bodyScanner(scanner, sandbox, trialBody(platform.tenant_id, labels)).findFault()
    return [reportIsolation(sandbox), reportTrial(fault)]
  } catch (error) {
    return [
      reportProblem('sandbox.unusable', (error as Error).message, 'repair this: the site does not start without it'),
    ]
  }
}

function reportIsolation({ isolation, shortfalls }: Sandbox): DoctorFinding {
  return isolation === 'namespaces'
    ? reportOk('sandbox', 'the scanner has no network and sees no files but its own')
    : reportWarning('sandbox.limits_only', `only limits bound the scanner: ${shortfalls.join('; ')}`, namespaces_remedy)
}

function reportTrial(fault: string | undefined): DoctorFinding {
  if (fault === undefined) return reportOk('scanner', 'the scanner passes a clean body')
  return reportProblem(
    'scanner.refuses_clean_body',
    fault,
    'name the files that it reads in filedrop.scanner.visible; until then intake pauses',
  )
}

const namespaces_remedy = 'allow user namespaces to the user of the site: sysctl user.max_user_namespaces, and AppArmor'
