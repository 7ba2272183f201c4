// One good request for each operation on effects.
import { canonicalDigest } from '../../../daemon/kernel/encoding/canonical-json.ts'
import { waitUntil } from '../site/test-site.ts'
import { type OperationFixture, secretClassification } from './operation-fixture.ts'
import type { OperationSamples } from './operation-samples.ts'

const path = '/userspace/effect'

export function effectInput(more: Readonly<Record<string, unknown>> = {}) {
  const operators = [{ name: 'ingest_file', params: { file: 'people.csv' } }]
  return { name: 'a sample', operators, visibility: secretClassification, ...more }
}

/** Creates an effect, and waits until its check has ended. */
export async function createEffect(stage: OperationFixture, more: Readonly<Record<string, unknown>> = {}) {
  const { site, admin: token } = stage
  const { json } = await site.request('ingest', { method: 'POST', path, token, body: effectInput(more) })
  const { uid } = json as { uid: string }
  await waitUntil(async () => {
    const shown = (await site.request('ingest', { method: 'GET', path: `${path}/${uid}`, token })).json
    return (shown as { status: string }).status !== 'pending_validation'
  })
  return uid
}

const ofEffect = async (stage: OperationFixture) => ({ input: { uid: await createEffect(stage) } })

let dispatched = 0

export function dispatchInput(more: Readonly<Record<string, unknown>> = {}) {
  const payload = { operators: [{ name: 'ingest_file', params: { file: 'people.csv' } }] }
  return {
    ...{ effect_id: `sample_${++dispatched}`, edition_id: 'ed_1', effect_type: 'ingest_file', target: {}, payload },
    ...{ payload_hash: canonicalDigest(payload), visibility: secretClassification, ...more },
  }
}

export const effectSamples: OperationSamples = {
  'ingest.effect.create': () => ({
    input: effectInput(),
    keyed: { input: effectInput(), another: { description: 'another' } },
  }),
  'ingest.effect.get': ofEffect,
  'ingest.effect.update': async (stage) => ({ input: { uid: await createEffect(stage), description: 'a sample' } }),
  'ingest.effect.remove': async (stage) => ({ input: { uid: await createEffect(stage), confirm: true } }),
  'ingest.effect.status': ofEffect,
  'ingest.effect.run': async (stage) => {
    const { input } = await ofEffect(stage)
    return { input, keyed: { input, another: { conf: { another: true } } } }
  },
  'ingest.effect.pause': async (stage) => ({ ...(await ofEffect(stage)), isTenants: true }),
  'ingest.effect.unpause': async (stage) => ({ ...(await ofEffect(stage)), isTenants: true }),
  'ingest.effect.stop': ofEffect,
  'ingest.effect.runs': ofEffect,
  'ingest.effect.metrics': ofEffect,
  'ingest.effect.dispatch': () => ({ input: dispatchInput() }),
  'ingest.effect.operator': () => ({ input: { operator_name: 'ingest_file' }, isTenants: false }),
}
