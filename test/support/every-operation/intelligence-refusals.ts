// Scenarios for declared refusals of the intelligence role that the walk does not cover.
import { max_silences } from '../../../daemon/roles/intelligence/silence/model.ts'
import type { ExactResponse } from '../http/send-exact-request.ts'
import { buildSignalInput, buildSilenceInput, sampleEdition } from './intelligence-objects.ts'
import { type OperationFixture, secretClassification } from './operation-fixture.ts'

type RefusalScenario = (stage: OperationFixture) => Promise<ExactResponse>

function postToIntelligence(
  { site, admin }: OperationFixture,
  path: string,
  body: unknown = {},
  token = admin,
): Promise<ExactResponse> {
  return site.request('intelligence', { method: 'POST', path: `/api/v1${path}`, token, body })
}

async function raiseSignal(stage: OperationFixture, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
  return ((await postToIntelligence(stage, '/signal', buildSignalInput(more))).json as { uid: string }).uid
}

/** An insight about a signal that is over. */
async function createClosableInsight(stage: OperationFixture): Promise<string> {
  const signal_id = await raiseSignal(stage)
  await postToIntelligence(stage, `/signal/${signal_id}/archive`)
  return ((await postToIntelligence(stage, '/insight', { signal_id, title: 'Why?' })).json as { uid: string }).uid
}

async function createClosedInsight(stage: OperationFixture): Promise<string> {
  const uid = await createClosableInsight(stage)
  await postToIntelligence(stage, `/insight/${uid}/close`, { rationale: 'over' })
  return uid
}

async function createArchivedSignal(stage: OperationFixture): Promise<string> {
  const uid = await raiseSignal(stage)
  await postToIntelligence(stage, `/signal/${uid}/archive`)
  return uid
}

const createUnclearedToken = ({ site }: OperationFixture) => site.token({ roles: ['admin'] })

/** Two signals that one may see, and nobody with their labels together. */
async function createIncompatibleSignals(stage: OperationFixture) {
  const releasable = (to: string) => ({ classification: { level: 'SECRET', releasable_to: [to] } })
  const both = await stage.site.token({ roles: ['admin'], clearance: { level: 'SECRET', nationality: 'NLD' } })
  const ours = await raiseSignal(stage, releasable('alpha'))
  const { json } = await postToIntelligence(stage, '/signal', buildSignalInput(releasable('NLD')), both)
  return { both, ours, theirs: (json as { uid: string }).uid }
}

const dismissal = { disposition: 'dismissed', rationale: 'a buoy' }

export const intelligenceRefusals: Readonly<Record<string, RefusalScenario>> = {
  'intelligence.signal.create label_denied': async (stage) =>
    postToIntelligence(stage, '/signal', buildSignalInput(), await createUnclearedToken(stage)),
  'intelligence.signal.create not_found': (stage) =>
    postToIntelligence(stage, '/signal', buildSignalInput({ related_signals: ['sig_000000000000'] })),
  'intelligence.signal.acknowledge wrong_state': async (stage) =>
    postToIntelligence(stage, `/signal/${await createArchivedSignal(stage)}/acknowledge`),
  'intelligence.signal.set-disposition wrong_state': async (stage) =>
    postToIntelligence(stage, `/signal/${await raiseSignal(stage)}/disposition`, {
      disposition: 'resolved',
      rationale: 'quick',
    }),
  'intelligence.signal.archive wrong_state': async (stage) =>
    postToIntelligence(stage, `/signal/${await createArchivedSignal(stage)}/archive`),
  'intelligence.signal.link-insight wrong_state': async (stage) =>
    postToIntelligence(stage, `/signal/${await raiseSignal(stage)}/link`, {
      insight_id: await createClosedInsight(stage),
    }),
  'intelligence.signal.link-insight label_denied': async (stage) =>
    postToIntelligence(
      stage,
      `/signal/${await raiseSignal(stage, { classification: { ...secretClassification, level: 'TOP_SECRET' } })}/link`,
      {
        insight_id: stage.intelligence.insight,
      },
    ),
  'intelligence.signal.merge wrong_state': (stage) =>
    postToIntelligence(stage, `/signal/${stage.intelligence.merged}/merge`, {
      signal_ids: [stage.intelligence.signal],
      rationale: 'sample',
    }),
  async 'intelligence.signal.merge label_denied'(stage) {
    const { both, ours, theirs } = await createIncompatibleSignals(stage)
    return postToIntelligence(stage, `/signal/${ours}/merge`, { signal_ids: [theirs], rationale: 'sample' }, both)
  },
  'intelligence.signal.unmerge wrong_state': (stage) =>
    postToIntelligence(stage, `/signal/${stage.intelligence.signal}/unmerge`, { rationale: 'sample' }),
  async 'intelligence.signal.unmerge label_denied'(stage) {
    const uid = await raiseSignal(stage, { classification: 'UNCLASSIFIED' })
    await postToIntelligence(stage, `/signal/${await raiseSignal(stage)}/merge`, {
      signal_ids: [uid],
      rationale: 'sample',
    })
    return postToIntelligence(
      stage,
      `/signal/${uid}/unmerge`,
      { rationale: 'sample' },
      await createUnclearedToken(stage),
    )
  },
  'intelligence.insight.open wrong_state': (stage) =>
    postToIntelligence(stage, '/insight', { signal_id: stage.intelligence.merged, title: 'Why?' }),
  'intelligence.bulk.create wrong_state': async (stage) =>
    postToIntelligence(stage, '/signal-bulk', { ...dismissal, signal_ids: [await raiseSignal(stage)], expect: 2 }),
  async 'intelligence.bulk.create label_denied'(stage) {
    const { both, ours, theirs } = await createIncompatibleSignals(stage)
    return postToIntelligence(stage, '/signal-bulk', { ...dismissal, signal_ids: [ours, theirs] }, both)
  },
  async 'intelligence.bulk.cancel wrong_state'(stage) {
    const { json } = await postToIntelligence(stage, '/signal-bulk', {
      ...dismissal,
      filter: { signal_type: 'none at all' },
    })
    return postToIntelligence(stage, `/signal-bulk/${(json as { uid: string }).uid}/cancel`)
  },
  'intelligence.silence.create label_denied': async (stage) =>
    postToIntelligence(stage, '/signal-silence', buildSilenceInput(), await createUnclearedToken(stage)),
  async 'intelligence.silence.create wrong_state'(stage) {
    const held = await postToIntelligence(stage, '/signal-silence', buildSilenceInput())
    for (let made = 0; made < max_silences; made += 1) {
      const next = await postToIntelligence(stage, '/signal-silence', buildSilenceInput())
      if (next.status !== 201) return next
    }
    return held
  },
  async 'intelligence.silence.end wrong_state'(stage) {
    const path = `/signal-silence/${stage.intelligence.toEnd}/end`
    await postToIntelligence(stage, path)
    return postToIntelligence(stage, path)
  },
  'intelligence.insight.open not_found': (stage) =>
    postToIntelligence(stage, '/insight', { signal_id: 'sig_000000000000', title: 'Why?' }),
  'intelligence.insight.open label_denied': async (stage) => {
    const signal_id = await raiseSignal(stage, { classification: 'UNCLASSIFIED' })
    const input = { signal_id, title: 'Why?', classification: 'SECRET' }
    return postToIntelligence(stage, '/insight', input, await createUnclearedToken(stage))
  },
  'intelligence.insight.edit wrong_state': async (stage) =>
    stage.site.request('intelligence', {
      method: 'PATCH',
      path: `/api/v1/insight/${await createClosedInsight(stage)}`,
      token: stage.admin,
      body: { title: 'Too late' },
    }),
  'intelligence.insight.start wrong_state': async (stage) =>
    postToIntelligence(stage, `/insight/${await createClosedInsight(stage)}/start`),
  'intelligence.insight.close wrong_state': (stage) =>
    postToIntelligence(stage, `/insight/${stage.intelligence.insight}/close`, { rationale: 'soon' }),
  'intelligence.edition.draft wrong_state': async (stage) =>
    postToIntelligence(stage, `/insight/${await createClosedInsight(stage)}/edition`, sampleEdition),
  async 'intelligence.edition.attest wrong_state'(stage) {
    const uid = await createClosableInsight(stage)
    const { json } = await postToIntelligence(stage, `/insight/${uid}/edition`, { ...sampleEdition, closes: true })
    const [edition] = (json as { editions: { edition_id: string }[] }).editions
    return postToIntelligence(stage, `/insight/${uid}/edition/${edition?.edition_id}/attest`)
  },
}
