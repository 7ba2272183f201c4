// Checks the broker and the hub: existing private files, certificates that do not expire soon, pinned peers.

import { inspectNetworkFiles, type NetworkFileReport } from '../../../boot/links/network-files.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import { listNetworks } from '../../../roles/site/carrier-settings.ts'
import { listPeers } from '../../peers/site-peers.ts'
import { readSiteSettings } from '../../site/site-profile.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportExpiry, reportOk, reportProblem } from '../finding.ts'

export async function checkNetworks({ folder, env, now }: DoctorContext): Promise<DoctorFinding[]> {
  const { resolved } = readSiteSettings(folder, env)
  const networks = listNetworks((section) => getSettings(resolved, section))
  const files = inspectNetworkFiles(resolved, env)
  if (files.length === 0) return []
  const enrolled = (await listPeers(folder)).map(({ name }) => name)
  return files.flatMap((each) => {
    const named = networks.find(({ name }) => name === each.name)?.peers ?? []
    const strange = named.filter((name) => !enrolled.includes(name))
    const found = [
      ...strange.map((name) => reportProblem(each.name, `${name} is no pinned peer`, `platform peers add ${name}`)),
      ...checkNetworkFiles(each, now),
    ]
    return found.length > 0 ? found : [reportOk(each.name, 'files are there, closed to others, and last')]
  })
}

function checkNetworkFiles({ name, faults, certificates }: NetworkFileReport, now: number): DoctorFinding[] {
  return [
    ...faults.map((fault) =>
      reportProblem(name, fault, `put a sound file there, for the site’s user alone, or mend ${name}`),
    ),
    ...certificates.flatMap(
      ({ description, file, expires_at_ms }) =>
        reportExpiry(name, description, expires_at_ms, now, `put its successor into ${file}`) ?? [],
    ),
  ]
}
