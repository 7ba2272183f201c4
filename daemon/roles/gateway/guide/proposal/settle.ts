// Accepts or dismisses a proposal by the change of its artifact, of which it is a part.
import { isRefusal, type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import type { Call } from '../../../../kernel/operation/call.ts'
import type { Doc } from '../../../../kernel/store/store.ts'
import { forgetArtifact, promoteArtifact } from '../artifact/change-artifacts.ts'
import type { Artifact } from '../artifact/model.ts'
import type { ChangeGround } from '../audit/entry.ts'
import { artifactIdOf, proposals, type StoredProposal } from './model.ts'

export type SettledProposal = { readonly proposal: Doc<StoredProposal>; readonly artifact: Doc<Artifact> }

export async function settle(
  call: Call,
  id: string,
  verdict: 'accepted' | 'dismissed',
  ground: ChangeGround,
): Promise<SettledProposal | Refusal> {
  const { doc } = await call.store(proposals).update(id, () => ({ answer: undefined }))
  const { status } = doc.value
  if (status !== 'open' && status !== 'held') return refuse('wrong_state', `the proposal is ${status}`)
  const change = verdict === 'accepted' ? promoteArtifact : forgetArtifact
  const artifact = await change(call, artifactIdOf(id), ground)
  if (isRefusal(artifact)) return artifact
  const settled = { ...doc.value, status: verdict, settled_by: ground.actor, settled_ts: artifact.value.update_ts }
  return { proposal: { ...doc, value: settled }, artifact }
}
