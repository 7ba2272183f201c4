// Checks that the labels of each peer's enrolment still exist in the profile's labelling policy.

import type { Peer } from '../../../kernel/identity/peer.ts'
import type { LabelPolicy } from '../../../kernel/label/label.ts'
import { listPeers } from '../../peers/site-peers.ts'
import { readSiteSettings } from '../../site/site-profile.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportOk, reportProblem } from '../finding.ts'

export async function checkLabels({ folder, env }: DoctorContext): Promise<DoctorFinding[]> {
  const { labels } = readSiteSettings(folder, env)
  const findings = (await listPeers(folder)).flatMap((peer) => checkPeerLabels(peer, labels))
  return findings.length > 0
    ? findings
    : [reportOk('labels', `ceilings and label maps are those of the policy ${labels.policy}`)]
}

function checkPeerLabels({ name, ceiling, label_map = {} }: Peer, { policy, levels }: LabelPolicy): DoctorFinding[] {
  if (ceiling.policy !== policy || !levels.includes(ceiling.level)) {
    const detail = `the ceiling of ${name}, ${ceiling.policy} ${ceiling.level}, is not in the policy ${policy}: no message passes`
    return [
      reportProblem(
        'labels.unknown_ceiling',
        detail,
        `platform peers set ${name} --ceiling LEVEL; the levels are ${levels.join(', ')}`,
      ),
    ]
  }
  const unknownLevels = Object.values(label_map).flatMap((map) =>
    Object.values(map.levels).filter((level) => !levels.includes(level)),
  )
  if (unknownLevels.length === 0) return []
  const detail = `the label map of ${name} maps to levels that are not in the policy ${policy}: ${unknownLevels.join(', ')}`
  return [reportProblem('labels.unknown_level', detail, `platform peers set ${name} --label-map FILE`)]
}
