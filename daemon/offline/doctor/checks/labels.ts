// Checks that the labels of each peer's enrolment still exist in the profile's labelling policy.

import type { Peer } from '../../../kernel/identity/peer.ts'
import type { LabelPolicy } from '../../../kernel/label/label.ts'
import { listPeers } from '../../peers/site-peers.ts'
import { readSiteSettings } from '../../site/site-profile.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, reportOk, reportProblem } from '../finding.ts'

export async function checkLabels({ folder, env }: DoctorContext): Promise<DoctorFinding[]> {
  const { labels } = readSiteSettings(folder, env)
  const found = (await listPeers(folder)).flatMap((peer) => checkPeerLabels(peer, labels))
  return found.length > 0
    ? found
    : [reportOk('labels', `ceilings and label maps are those of the policy ${labels.policy}`)]
}

function checkPeerLabels({ name, ceiling, label_map = {} }: Peer, { policy, levels }: LabelPolicy): DoctorFinding[] {
  const again = `platform peers remove ${name}, then add it again with what the profile has`
  if (ceiling.policy !== policy || !levels.includes(ceiling.level)) {
    const detail = `the ceiling of ${name}, ${ceiling.policy} ${ceiling.level}, is none of the policy ${policy}: nothing crosses`
    return [reportProblem('labels', detail, again)]
  }
  const strange = Object.values(label_map).flatMap((map) =>
    Object.values(map.levels).filter((level) => !levels.includes(level)),
  )
  if (strange.length === 0) return []
  const detail = `the label map of ${name} leads to levels that the policy ${policy} does not have: ${strange.join(', ')}`
  return [reportProblem('labels', detail, again)]
}
