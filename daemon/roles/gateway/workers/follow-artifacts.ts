// Follows the artifacts of guidance, for as long as the role runs.
import type { Call } from '../../../kernel/operation/call.ts'
import type { Worker } from '../../../kernel/role/role.ts'
import { artifact_topic } from '../guide/artifact/follow-up.ts'
import { ArtifactFollowing } from '../guide/guidance/follow-changes.ts'
import { guideSettings } from '../guide/settings.ts'

/** Another process may have changed artifacts. */
const look_ms = 1_000

export const followArtifacts: Worker = { name: 'follow-artifacts', when: { every_ms: look_ms }, run }

async function run(call: Call): Promise<void> {
  if (!call.settings(guideSettings).enabled) return
  const following = new ArtifactFollowing(call)
  for await (const _ of call.changes(artifact_topic, call.signal, look_ms)) await following.look()
}
