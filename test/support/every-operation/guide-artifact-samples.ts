// Good requests on artifacts of the guidance layer, and scenarios for their refusals.
import { randomBytes } from 'node:crypto'
import { isRefusal } from '../../../daemon/kernel/error/errors.ts'
import { demoteArtifact, promoteArtifact } from '../../../daemon/roles/gateway/guide/artifact/change-artifacts.ts'
import { finishAll } from '../../../daemon/roles/gateway/guide/artifact/finish-changes.ts'
import { type ArtifactDraft, proposeArtifact } from '../../../daemon/roles/gateway/guide/artifact/propose-artifact.ts'
import { proposalId } from '../../../daemon/roles/gateway/guide/proposal/model.ts'
import { pairingDraft } from '../guide/drafts.ts'
import { createGuideCall } from '../guide/guide-call.ts'
import type { ExactResponse } from '../http/send-exact-request.ts'
import { type OperationFixture, secretLabel } from './operation-fixture.ts'
import type { OperationSamples } from './operation-samples.ts'

const ground = { actor: 'admin:ada', trigger: 'admin_manual' } as const

function openCall({ site }: OperationFixture) {
  const { store } = site.running.services.find(({ role }) => role.name === 'gateway')?.context ?? {}
  if (!store) throw new Error('the gateway does not run')
  return createGuideCall({ store, now: Date.now, random: (bytes) => randomBytes(bytes).toString('hex') })
}

/** The id of a new artifact, of which all changes are finished. */
export async function createArtifact(
  stage: OperationFixture,
  status: 'proposed' | 'active' | 'demoted' = 'proposed',
  draft: Partial<ArtifactDraft> = {},
): Promise<string> {
  const call = openCall(stage)
  const proposed = await proposeArtifact(call, pairingDraft({ label: secretLabel, ...draft }), ground)
  if (isRefusal(proposed)) throw proposed
  const { id } = proposed.doc
  if (status !== 'proposed') await promoteArtifact(call, id, ground)
  if (status === 'demoted') await demoteArtifact(call, id, ground)
  await finishAll(call)
  return id
}

const ofStatus = (status: 'proposed' | 'active' | 'demoted', more: Readonly<Record<string, unknown>> = {}) => {
  return async (stage: OperationFixture) => ({ input: { id: await createArtifact(stage, status), ...more } })
}

const ofProposal = async (stage: OperationFixture) => ({ input: { id: proposalId(await createArtifact(stage)) } })

export const guideArtifactSamples: OperationSamples = {
  'gateway.guide.artifact.get': ofStatus('active'),
  'gateway.guide.artifact.edit': ofStatus('active', { notes: 'a sample' }),
  'gateway.guide.artifact.promote': ofStatus('proposed'),
  'gateway.guide.artifact.demote': ofStatus('active'),
  'gateway.guide.artifact.rollback': ofStatus('demoted', { version: 1 }),
  'gateway.guide.artifact.forget': ofStatus('demoted'),
  'gateway.guide.decision.discuss': async (stage) => ({ input: { audit_id: `${await createArtifact(stage)}.1` } }),
  'gateway.guide.decision.explain': async (stage) => ({ input: { audit_id: `${await createArtifact(stage)}.1` } }),
  'gateway.guide.proposal.accept': ofProposal,
  'gateway.guide.proposal.dismiss': ofProposal,
}

type RefusalScenario = (stage: OperationFixture) => Promise<ExactResponse>

function post({ site, admin: token }: OperationFixture, path: string, body: object = {}): Promise<ExactResponse> {
  const headers = { 'content-type': 'application/json' }
  const at = `/api/v1/guide/${path}`
  return site.request('gateway', { method: 'POST', path: at, token, headers, body: JSON.stringify(body) })
}

export const guideArtifactRefusals: Record<string, RefusalScenario> = {
  'gateway.guide.artifact.promote wrong_state': async (stage) => {
    const id = await createArtifact(stage)
    const { site, admin: token } = stage
    await site.request('gateway', { method: 'DELETE', path: `/api/v1/guide/artifacts/${id}`, token })
    return await post(stage, `artifacts/${id}/promote`)
  },
  'gateway.guide.artifact.demote wrong_state': async (stage) =>
    post(stage, `artifacts/${await createArtifact(stage)}/demote`),
  'gateway.guide.artifact.rollback wrong_state': async (stage) =>
    post(stage, `artifacts/${await createArtifact(stage)}/rollback`, { version: 1 }),
  'gateway.guide.artifact.edit wrong_state': async (stage) => {
    const id = await createArtifact(stage)
    const { site, admin: token } = stage
    const path = `/api/v1/guide/artifacts/${id}`
    await site.request('gateway', { method: 'DELETE', path, token })
    const headers = { 'content-type': 'application/json' }
    return await site.request('gateway', { method: 'PATCH', path, token, headers, body: '{"notes":"late"}' })
  },
  'gateway.guide.artifact.forget wrong_state': async (stage) => {
    const path = `/api/v1/guide/artifacts/${await createArtifact(stage, 'active')}`
    return await stage.site.request('gateway', { method: 'DELETE', path, token: stage.admin })
  },
  'gateway.guide.synthesis.trigger not_found': (stage) => post(stage, 'learn', { trace_id: '1'.repeat(32) }),
  'gateway.guide.decision.explain not_found': ({ site, admin: token }) =>
    site.request('gateway', { method: 'GET', path: '/api/v1/guide/decisions/explanation?audit_id=none', token }),
  'gateway.guide.decision.discuss not_found': ({ site, admin: token }) =>
    site.request('gateway', { method: 'GET', path: '/api/v1/guide/decisions/discussion?audit_id=none', token }),
  'gateway.guide.proposal.accept wrong_state': async (stage) => {
    const path = `proposals/${proposalId(await createArtifact(stage))}`
    await post(stage, `${path}/accept`)
    return await post(stage, `${path}/accept`)
  },
  'gateway.guide.proposal.dismiss wrong_state': async (stage) => {
    const path = `proposals/${proposalId(await createArtifact(stage))}`
    await post(stage, `${path}/dismiss`)
    return await post(stage, `${path}/dismiss`)
  },
}
