// Good requests on sets of artifacts from the peer bravo, and scenarios for their refusals.
import { signWithKeys } from '../../../adapters/keys/jose/signatures.ts'
import { peerFiles } from '../../../adapters/peers/files/peer-files.ts'
import { canonicalJson, sha256, sha384 } from '../../../daemon/kernel/encoding/canonical-json.ts'
import type { ExactResponse } from '../http/send-exact-request.ts'
import type { ReleaseSigner } from '../site/release-signers.ts'
import { waitUntil } from '../site/test-site.ts'
import { enrolSigners } from './enrol-signers.ts'
import { createArtifact } from './guide-artifact-samples.ts'
import { type OperationFixture, secretLabel, topSecretClearance } from './operation-fixture.ts'
import type { OperationSamples } from './operation-samples.ts'

const label = { ...secretLabel, originator: 'bravo' }
let texts = 0

/** base64url of a set that bravo has signed for this site. */
async function signSet({ site }: OperationFixture, more: object = {}, carriedLabel: object = label): Promise<string> {
  texts += 1
  const body = `text ${texts}`
  const artifact = {
    ...{ artifact_id: `artifact_${sha256(body).slice(0, 32)}`, type: 'PromptShim', version: 1, label: carriedLabel },
    ...{ as_of: '2026-03-02T12:00:00.000Z', applicability: { tags: [] }, content: { body }, rationale: 'a sample' },
  }
  const manifest = {
    ...{ v: 1, type: 'platform.guidance-set', from: 'bravo', tenant_id: 'bravo', to: 'alpha', label: carriedLabel },
    ...{ made_at: new Date().toISOString(), artifacts: [sha256(canonicalJson(artifact))], ...more },
  }
  const signed = await site.bravo.sign('guidance-set', Buffer.from(canonicalJson(manifest)))
  const file = canonicalJson({ artifacts: [artifact], form: 'guidance-set/1', signed })
  return Buffer.from(file).toString('base64url')
}

const set_path = '/api/v1/guide/sets'

function post({ site, admin }: OperationFixture, path: string, body: object, token = admin): Promise<ExactResponse> {
  const headers = { 'content-type': 'application/json' }
  return site.request('gateway', { method: 'POST', path, token, headers, body: JSON.stringify(body) })
}

type HeldSet = { readonly id: string; readonly digest: string }

async function holdSet(stage: OperationFixture): Promise<HeldSet> {
  return (await post(stage, set_path, { file: await signSet(stage) })).json as HeldSet
}

const buildRequest = ({ id: set, digest }: HeldSet, subject: string) => ({
  ...{ v: 1, type: 'platform.guidance-acceptance', step: 'request', site: 'alpha', tenant_id: 'alpha', set, digest },
  ...{ artifacts: [1], reason: 'a sample', subject, created: new Date().toISOString() },
})

const sign = ({ key }: ReleaseSigner, decision: object) =>
  signWithKeys([key], 'guidance-decision', Buffer.from(canonicalJson(decision)))

/** A set whose acceptance bob has requested, and the signature of ada that approves it. */
async function requestSet(stage: OperationFixture) {
  const set = await holdSet(stage)
  const { ada, bob } = await enrolSigners(stage)
  const request = buildRequest(set, 'bob')
  const claims = { sub: 'bob', roles: ['admin'], ...topSecretClearance }
  await post(
    stage,
    `${set_path}/${set.id}/request`,
    { signature: await sign(bob, request) },
    await stage.site.token(claims),
  )
  const approval = { ...request, step: 'approval', subject: 'ada', request: sha384(canonicalJson(request)) }
  return { set, signature: await sign(ada, approval), approval, ada }
}

const heldSample = async (stage: OperationFixture) => ({ input: { id: (await holdSet(stage)).id } })

export const guidanceSetSamples: OperationSamples = {
  'gateway.guide.set.export': async (stage) => ({
    input: {
      to: 'bravo',
      ids: [await createArtifact(stage, 'active', { type: 'PromptShim', content: { body: 'a text' } })],
    },
  }),
  'gateway.guide.set.import': async (stage) => ({ input: { file: await signSet(stage) } }),
  'gateway.guide.set.get': heldSample,
  'gateway.guide.set.artifacts': heldSample,
  'gateway.guide.set.request': async (stage) => {
    const set = await holdSet(stage)
    const { ada } = await enrolSigners(stage)
    return { input: { id: set.id, signature: await sign(ada, buildRequest(set, 'ada')) } }
  },
  'gateway.guide.set.approve': async (stage) => {
    const { set, signature } = await requestSet(stage)
    return { input: { id: set.id, signature } }
  },
  'gateway.guide.set.reject': async (stage) => ({ input: { id: (await holdSet(stage)).id, reason: 'as a sample' } }),
  'site.peer.admission': () => ({ input: { name: 'bravo', label }, isTenants: false }),
}

type RefusalScenario = (stage: OperationFixture) => Promise<ExactResponse>

const importSigned = async (stage: OperationFixture, more: object = {}, carriedLabel: object = label) =>
  post(stage, set_path, { file: await signSet(stage, more, carriedLabel) })

const otherTenant = ({ site }: OperationFixture) =>
  site.token({ sub: 'otto', tenant_id: 'other', roles: ['admin'], ...topSecretClearance })

async function rejectFirst(stage: OperationFixture, id: string): Promise<void> {
  await post(stage, `${set_path}/${id}/reject`, { reason: 'as a sample' })
}

const top = { ...label, level: 'TOP_SECRET' }

export const guidanceSetRefusals: Record<string, RefusalScenario> = {
  'gateway.guide.set.export not_found': (stage) => post(stage, `${set_path}/export`, { to: 'nobody' }),
  'gateway.guide.set.export wrong_state': (stage) =>
    post(stage, `${set_path}/export`, { to: 'bravo', ids: [`artifact_${'0'.repeat(32)}`] }),
  'gateway.guide.set.export not_your_tenant': async (stage) =>
    post(stage, `${set_path}/export`, { to: 'bravo' }, await otherTenant(stage)),
  'gateway.guide.set.import not_your_tenant': async (stage) =>
    post(stage, set_path, { file: await signSet(stage) }, await otherTenant(stage)),
  'gateway.guide.set.import signature_invalid': (stage) => importSigned(stage, { from: 'nobody' }),
  'gateway.guide.set.import label_denied': (stage) => importSigned(stage, {}, top),
  'gateway.guide.set.import wrong_state': async (stage) => {
    const { set, signature } = await requestSet(stage)
    await post(stage, `${set_path}/${set.id}/approve`, { signature })
    // The worker has made it the newest of its peer once it is accepted.
    await waitUntilAccepted(stage, set.id)
    return await importSigned(stage, { made_at: '2026-03-02T12:00:00.000Z' })
  },
  'gateway.guide.set.import over_budget': async (stage) => {
    const held: string[] = []
    for (;;) {
      const answer = await importSigned(stage)
      const { id } = answer.json as HeldSet
      if (answer.status === 200) held.push(id)
      else {
        for (const each of held) await rejectFirst(stage, each)
        return answer
      }
    }
  },
  'gateway.guide.set.request signature_invalid': async (stage) => {
    const set = await holdSet(stage)
    const { ada } = await enrolSigners(stage)
    const signature = await sign(ada, { ...buildRequest(set, 'ada'), site: 'bravo' })
    return await post(stage, `${set_path}/${set.id}/request`, { signature })
  },
  'gateway.guide.set.request conflict': async (stage) => {
    const set = await holdSet(stage)
    const { ada } = await enrolSigners(stage)
    const signature = await sign(ada, { ...buildRequest(set, 'ada'), digest: 'a'.repeat(96) })
    return await post(stage, `${set_path}/${set.id}/request`, { signature })
  },
  'gateway.guide.set.request wrong_state': async (stage) => {
    const set = await holdSet(stage)
    const { ada } = await enrolSigners(stage)
    await rejectFirst(stage, set.id)
    return await post(stage, `${set_path}/${set.id}/request`, { signature: await sign(ada, buildRequest(set, 'ada')) })
  },
  'gateway.guide.set.approve signature_invalid': async (stage) => {
    const { set, approval, ada } = await requestSet(stage)
    return await post(stage, `${set_path}/${set.id}/approve`, {
      signature: await sign(ada, { ...approval, site: 'bravo' }),
    })
  },
  'gateway.guide.set.approve conflict': async (stage) => {
    const { set, approval, ada } = await requestSet(stage)
    const signature = await sign(ada, { ...approval, request: 'a'.repeat(96) })
    return await post(stage, `${set_path}/${set.id}/approve`, { signature })
  },
  'gateway.guide.set.approve wrong_state': async (stage) => {
    const { set, signature } = await requestSet(stage)
    await rejectFirst(stage, set.id)
    return await post(stage, `${set_path}/${set.id}/approve`, { signature })
  },
  'gateway.guide.set.approve label_denied': async (stage) => {
    const { set, signature } = await requestSet(stage)
    const peers = peerFiles(stage.site.folder.peers)
    const bravo = await peers.get('bravo')
    if (!bravo) throw new Error('bravo is not pinned')
    await peers.add({ ...bravo, ceiling: { ...bravo.ceiling, level: 'UNCLASSIFIED' } }, { replace: true })
    const answer = await post(stage, `${set_path}/${set.id}/approve`, { signature })
    await peers.add(bravo, { replace: true })
    return answer
  },
  'gateway.guide.set.reject wrong_state': async (stage) => {
    const { id } = await holdSet(stage)
    await rejectFirst(stage, id)
    return await post(stage, `${set_path}/${id}/reject`, { reason: 'again' })
  },
}

async function waitUntilAccepted(stage: OperationFixture, id: string): Promise<void> {
  await waitUntil(async () => {
    const { admin: token, site } = stage
    const { json } = await site.request('gateway', { method: 'GET', path: `${set_path}/${id}`, token })
    return (json as { status: string }).status === 'accepted'
  })
}
