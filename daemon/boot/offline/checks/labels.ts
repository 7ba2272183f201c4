// Whether what each peer was enrolled with is still said in the terms of the profile's labelling policy.
import type { LabelPolicy } from '../../../kernel/label.ts'
import type { Peer } from '../../../kernel/peer.ts'
import type { Examined } from '../examination.ts'
import { type Finding, fine, problem } from '../finding.ts'
import { list } from '../site-peers.ts'
import { siteSettings } from '../site-profile.ts'

export async function labelFindings({ folder, env }: Examined): Promise<Finding[]> {
  const { labels } = siteSettings(folder, env)
  const found = (await list(folder)).flatMap((peer) => ofPeer(peer, labels))
  return found.length > 0 ? found : [fine('labels', `ceilings and label maps are those of the policy ${labels.policy}`)]
}

function ofPeer({ name, ceiling, label_map = {} }: Peer, { policy, levels }: LabelPolicy): Finding[] {
  const again = `platform peers remove ${name}, then add it again with what the profile has`
  if (ceiling.policy !== policy || !levels.includes(ceiling.level)) {
    const detail = `the ceiling of ${name}, ${ceiling.policy} ${ceiling.level}, is none of the policy ${policy}: nothing crosses`
    return [problem('labels', detail, again)]
  }
  const strange = Object.values(label_map).flatMap((map) =>
    Object.values(map.levels).filter((level) => !levels.includes(level)),
  )
  if (strange.length === 0) return []
  const detail = `the label map of ${name} leads to levels that the policy ${policy} does not have: ${strange.join(', ')}`
  return [problem('labels', detail, again)]
}
