// Checks what the kernel of this machine gives to bound the commands that the site runs, if it runs any.
import { openSandbox } from '../../../../adapters/sandbox/linux/open-sandbox.ts'
import { scanLimits } from '../../../../adapters/transport/filedrop/receiving/body-scanner/body-scanner.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import { filedropSettings } from '../../../roles/site/settings.ts'
import { readSiteSettings } from '../../site/site-profile.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportOk, reportProblem, reportWarning } from '../finding.ts'

export async function checkSandbox({ folder, env }: DoctorContext): Promise<DoctorFinding[]> {
  const { scanner } = getSettings(readSiteSettings(folder, env).resolved, filedropSettings)
  if (!scanner) return []
  try {
    const { isolation, shortfalls } = await openSandbox(scanLimits(scanner))
    return isolation === 'namespaces'
      ? [reportOk('sandbox', 'the scanner has no network and sees no files but its own')]
      : [reportWarning('sandbox', `only limits bound the scanner: ${shortfalls.join('; ')}`, namespaces_remedy)]
  } catch (error) {
    return [reportProblem('sandbox', (error as Error).message, 'repair this: the site does not start without it')]
  }
}

const namespaces_remedy = 'allow user namespaces to the user of the site: sysctl user.max_user_namespaces, and AppArmor'
