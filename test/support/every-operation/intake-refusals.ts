// How the declared refusals of intake are brought about.
import type { Heard } from '../http-exchange.ts'
import { peerSignal, sampleSignal, sampleSubject } from './intelligence-objects.ts'
import { label, type Stage, secret } from './stage.ts'

type Fields = Readonly<Record<string, unknown>>
type Refusal = (stage: Stage) => Promise<Heard>

function post({ site, admin }: Stage, path: string, body: unknown, token = admin): Promise<Heard> {
  return site.ask('intelligence', { method: 'POST', path: `/api/v1${path}`, token, body })
}

async function raise(stage: Stage, more: Fields, token?: string): Promise<Heard> {
  const fields = { signal_type: 'sample', severity: 'low', title: 'a sample', subject: sampleSubject }
  const said = { origin: 'source:x', key: 'k', tenant_id: 'alpha', label, source: { type: 'polling' }, fields, ...more }
  return post(stage, '/signal-intake/raise', said, token)
}

function cause(stage: Stage, more: Fields, token?: string): Promise<Heard> {
  const said = { kind: 'failed_pipeline', key: 'k', tenant_id: 'alpha', label, subject: sampleSubject, title: 't' }
  return post(stage, '/signal-intake/cause', { ...said, ...more }, token)
}

const unsigned = (stage: Stage) => post(stage, '/signal-intake/webhook/nowhere', {})

async function told(stage: Stage, data: Fields, change: Fields = {}): Promise<Heard> {
  return post(stage, '/federation/signal', await stage.delivered('signal', { ...peerSignal, ...data }, change))
}

const uncleared = ({ site }: Stage) => site.token({ roles: ['admin'] })

export const intakeRefusals: Readonly<Record<string, Refusal>> = {
  async 'intelligence.signal.send label_denied'(stage) {
    const raised = await post(
      stage,
      '/signal',
      sampleSignal({ classification: { ...secret, releasable_to: ['alpha'] } }),
    )
    return post(stage, `/signal/${(raised.json as { uid: string }).uid}/send`, { peer: 'bravo' })
  },
  'intelligence.signal-intake.deliver signature_invalid': unsigned,
  async 'intelligence.signal-intake.deliver rate_limited'(stage) {
    for (;;) {
      const answer = await unsigned(stage)
      if (answer.status !== 403) return answer
    }
  },
  'intelligence.signal-intake.raise not_your_tenant': (stage) => raise(stage, { tenant_id: 'charlie' }),
  'intelligence.signal-intake.raise label_denied': async (stage) => raise(stage, {}, await uncleared(stage)),
  async 'intelligence.signal-intake.raise idempotency_mismatch'(stage) {
    await raise(stage, { key: 'twice', digest: 'one' })
    return raise(stage, { key: 'twice', digest: 'two' })
  },
  'intelligence.signal-intake.cause not_your_tenant': (stage) => cause(stage, { tenant_id: 'charlie' }),
  'intelligence.signal-intake.cause label_denied': async (stage) => cause(stage, {}, await uncleared(stage)),
  async 'intelligence.federation.signal signature_invalid'(stage) {
    const { body } = await stage.delivered('signal', { ...peerSignal, event_id: 'other' })
    const message = await stage.delivered('signal', { ...peerSignal, event_id: 'one' })
    return post(stage, '/federation/signal', { ...message, body })
  },
  'intelligence.federation.signal not_your_tenant': (stage) =>
    told(stage, { event_id: 'elsewhere' }, { receiver_tenant_id: 'charlie' }),
  'intelligence.federation.signal label_denied': (stage) =>
    told(stage, { event_id: 'high' }, { label: { ...label, level: 'TOP_SECRET' } }),
  async 'intelligence.federation.signal idempotency_mismatch'(stage) {
    await told(stage, { event_id: 'twice' })
    return told(stage, { event_id: 'twice', title: 'otherwise' })
  },
}
