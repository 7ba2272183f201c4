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
  const files = inspectNetworkFiles(resolved)
  if (files.length === 0) return []
  const enrolled = (await listPeers(folder)).map(({ name }) => name)
  return files.flatMap((report) => {
    const peerNames = networks.find(({ name }) => name === report.name)?.peers ?? []
    const unpinned = peerNames.filter((name) => !enrolled.includes(name))
    const findings = [
      ...unpinned.map((name) =>
        reportProblem(
          `${report.name}.peer_not_pinned` as const,
          `${name} is not a pinned peer`,
          `platform peers add ${name} --keys FILE --tenant TENANT --ceiling LEVEL`,
        ),
      ),
      ...checkNetworkFiles(report, now),
    ]
    return findings.length > 0
      ? findings
      : [reportOk(report.name, 'the files exist, are private, and do not expire soon')]
  })
}

function checkNetworkFiles({ name, faults, certificates }: NetworkFileReport, now: number): DoctorFinding[] {
  return [
    ...faults.map((fault) =>
      reportProblem(
        `${name}.file_unusable` as const,
        fault,
        `replace it with a valid file that only the site’s user can read, or correct ${name}`,
      ),
    ),
    ...certificates.flatMap(
      ({ description, file, expires_at_ms }) =>
        reportExpiry(
          `${name}.certificate_expiring` as const,
          description,
          expires_at_ms,
          now,
          `put its successor into ${file}`,
        ) ?? [],
    ),
  ]
}
