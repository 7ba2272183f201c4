// Scenarios for the declared refusals of intake.
import type { ExactResponse } from '../http/send-exact-request.ts'
import { buildSignalInput, peerSignal, sampleSubject } from './intelligence-objects.ts'
import { type OperationFixture, secretClassification, secretLabel } from './operation-fixture.ts'
import { tokenFor } from './post-request.ts'

type RequestFields = Readonly<Record<string, unknown>>
type RefusalScenario = (stage: OperationFixture) => Promise<ExactResponse>

function postToIntelligence(
  stage: OperationFixture,
  path: string,
  body: unknown,
  token = tokenFor(stage, path),
): Promise<ExactResponse> {
  return stage.site.request('intelligence', { method: 'POST', path: `/api/v1${path}`, token, body })
}

async function raiseSignal(stage: OperationFixture, more: RequestFields, token?: string): Promise<ExactResponse> {
  const fields = { signal_type: 'sample', severity: 'low', title: 'a sample', subject: sampleSubject }
  const alert = {
    origin: 'source:x',
    key: 'k',
    tenant_id: 'alpha',
    label: secretLabel,
    source: { type: 'polling' },
    fields,
    ...more,
  }
  return postToIntelligence(stage, '/signal-intake/raise', alert, token)
}

function raiseAndSend(stage: OperationFixture, more: RequestFields, token?: string): Promise<ExactResponse> {
  const alert = {
    kind: 'failed_pipeline',
    key: 'k',
    tenant_id: 'alpha',
    label: secretLabel,
    subject: sampleSubject,
    title: 't',
  }
  return postToIntelligence(stage, '/signal-intake/cause', { ...alert, ...more }, token)
}

const postUnsignedWebhook = (stage: OperationFixture) => postToIntelligence(stage, '/signal-intake/webhook/nowhere', {})

async function deliverPeerSignal(
  stage: OperationFixture,
  data: RequestFields,
  change: RequestFields = {},
): Promise<ExactResponse> {
  return postToIntelligence(
    stage,
    '/federation/signal',
    await stage.signMessage('signal', { ...peerSignal, ...data }, change),
  )
}

const createUnclearedToken = ({ site }: OperationFixture) => site.token({ roles: ['admin'] })

export const intakeRefusals: Readonly<Record<string, RefusalScenario>> = {
  async 'intelligence.signal.send label_denied'(stage) {
    const raised = await postToIntelligence(
      stage,
      '/signal',
      buildSignalInput({ classification: { ...secretClassification, releasable_to: ['alpha'] } }),
    )
    return postToIntelligence(stage, `/signal/${(raised.json as { uid: string }).uid}/send`, { peer: 'bravo' })
  },
  'intelligence.signal-intake.deliver signature_invalid': postUnsignedWebhook,
  async 'intelligence.signal-intake.deliver rate_limited'(stage) {
    for (;;) {
      const answer = await postUnsignedWebhook(stage)
      if (answer.status !== 403) return answer
    }
  },
  'intelligence.signal-intake.raise not_your_tenant': (stage) => raiseSignal(stage, { tenant_id: 'charlie' }),
  'intelligence.signal-intake.raise label_denied': async (stage) =>
    raiseSignal(stage, {}, await createUnclearedToken(stage)),
  async 'intelligence.signal-intake.raise idempotency_mismatch'(stage) {
    await raiseSignal(stage, { key: 'twice', digest: 'one' })
    return raiseSignal(stage, { key: 'twice', digest: 'two' })
  },
  'intelligence.signal-intake.cause not_your_tenant': (stage) => raiseAndSend(stage, { tenant_id: 'charlie' }),
  'intelligence.signal-intake.cause label_denied': async (stage) =>
    raiseAndSend(stage, {}, await createUnclearedToken(stage)),
  async 'intelligence.federation.signal signature_invalid'(stage) {
    const { body } = await stage.signMessage('signal', { ...peerSignal, event_id: 'other' })
    const message = await stage.signMessage('signal', { ...peerSignal, event_id: 'one' })
    return postToIntelligence(stage, '/federation/signal', { ...message, body })
  },
  'intelligence.federation.signal not_your_tenant': (stage) =>
    deliverPeerSignal(stage, { event_id: 'elsewhere' }, { receiver_tenant_id: 'charlie' }),
  'intelligence.federation.signal label_denied': (stage) =>
    deliverPeerSignal(stage, { event_id: 'high' }, { label: { ...secretLabel, level: 'TOP_SECRET' } }),
  async 'intelligence.federation.signal idempotency_mismatch'(stage) {
    await deliverPeerSignal(stage, { event_id: 'twice' })
    return deliverPeerSignal(stage, { event_id: 'twice', title: 'otherwise' })
  },
}
