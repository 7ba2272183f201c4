// How the declared refusals of the intelligence role are brought about that the walk does not show.
import { most_silences } from '../../../daemon/roles/intelligence/silence/model.ts'
import type { Heard } from '../http-exchange.ts'
import { sampleEdition, sampleSignal, sampleSilence } from './intelligence-objects.ts'
import { type Stage, secret } from './stage.ts'

type Refusal = (stage: Stage) => Promise<Heard>

function post({ site, admin }: Stage, path: string, body: unknown = {}, token = admin): Promise<Heard> {
  return site.ask('intelligence', { method: 'POST', path: `/api/v1${path}`, token, body })
}

async function raised(stage: Stage, more: Readonly<Record<string, unknown>> = {}): Promise<string> {
  return ((await post(stage, '/signal', sampleSignal(more))).json as { uid: string }).uid
}

/** An insight about a signal that is over. */
async function closable(stage: Stage): Promise<string> {
  const signal_id = await raised(stage)
  await post(stage, `/signal/${signal_id}/archive`)
  return ((await post(stage, '/insight', { signal_id, title: 'Why?' })).json as { uid: string }).uid
}

async function closed(stage: Stage): Promise<string> {
  const uid = await closable(stage)
  await post(stage, `/insight/${uid}/close`, { rationale: 'over' })
  return uid
}

async function archived(stage: Stage): Promise<string> {
  const uid = await raised(stage)
  await post(stage, `/signal/${uid}/archive`)
  return uid
}

const uncleared = ({ site }: Stage) => site.token({ roles: ['admin'] })

/** Two signals that one may see, and nobody with their labels together. */
async function apart(stage: Stage) {
  const releasable = (to: string) => ({ classification: { level: 'SECRET', releasable_to: [to] } })
  const both = await stage.site.token({ roles: ['admin'], clearance: { level: 'SECRET', nationality: 'NLD' } })
  const ours = await raised(stage, releasable('alpha'))
  const { json } = await post(stage, '/signal', sampleSignal(releasable('NLD')), both)
  return { both, ours, theirs: (json as { uid: string }).uid }
}

const dismissal = { disposition: 'dismissed', rationale: 'a buoy' }

export const intelligenceRefusals: Readonly<Record<string, Refusal>> = {
  'intelligence.signal.create label_denied': async (stage) =>
    post(stage, '/signal', sampleSignal(), await uncleared(stage)),
  'intelligence.signal.create not_found': (stage) =>
    post(stage, '/signal', sampleSignal({ related_signals: ['sig_000000000000'] })),
  'intelligence.signal.acknowledge wrong_state': async (stage) =>
    post(stage, `/signal/${await archived(stage)}/acknowledge`),
  'intelligence.signal.set-disposition wrong_state': async (stage) =>
    post(stage, `/signal/${await raised(stage)}/disposition`, { disposition: 'resolved', rationale: 'quick' }),
  'intelligence.signal.archive wrong_state': async (stage) => post(stage, `/signal/${await archived(stage)}/archive`),
  'intelligence.signal.link-insight wrong_state': async (stage) =>
    post(stage, `/signal/${await raised(stage)}/link`, { insight_id: await closed(stage) }),
  'intelligence.signal.link-insight label_denied': async (stage) =>
    post(stage, `/signal/${await raised(stage, { classification: { ...secret, level: 'TOP_SECRET' } })}/link`, {
      insight_id: stage.intelligence.insight,
    }),
  'intelligence.signal.merge wrong_state': (stage) =>
    post(stage, `/signal/${stage.intelligence.merged}/merge`, {
      signal_ids: [stage.intelligence.signal],
      rationale: 'sample',
    }),
  async 'intelligence.signal.merge label_denied'(stage) {
    const { both, ours, theirs } = await apart(stage)
    return post(stage, `/signal/${ours}/merge`, { signal_ids: [theirs], rationale: 'sample' }, both)
  },
  'intelligence.signal.unmerge wrong_state': (stage) =>
    post(stage, `/signal/${stage.intelligence.signal}/unmerge`, { rationale: 'sample' }),
  async 'intelligence.signal.unmerge label_denied'(stage) {
    const uid = await raised(stage, { classification: 'UNCLASSIFIED' })
    await post(stage, `/signal/${await raised(stage)}/merge`, { signal_ids: [uid], rationale: 'sample' })
    return post(stage, `/signal/${uid}/unmerge`, { rationale: 'sample' }, await uncleared(stage))
  },
  'intelligence.insight.open wrong_state': (stage) =>
    post(stage, '/insight', { signal_id: stage.intelligence.merged, title: 'Why?' }),
  'intelligence.bulk.create wrong_state': async (stage) =>
    post(stage, '/signal-bulk', { ...dismissal, signal_ids: [await raised(stage)], expect: 2 }),
  async 'intelligence.bulk.create label_denied'(stage) {
    const { both, ours, theirs } = await apart(stage)
    return post(stage, '/signal-bulk', { ...dismissal, signal_ids: [ours, theirs] }, both)
  },
  async 'intelligence.bulk.cancel wrong_state'(stage) {
    const { json } = await post(stage, '/signal-bulk', { ...dismissal, filter: { signal_type: 'none at all' } })
    return post(stage, `/signal-bulk/${(json as { uid: string }).uid}/cancel`)
  },
  'intelligence.silence.create label_denied': async (stage) =>
    post(stage, '/signal-silence', sampleSilence(), await uncleared(stage)),
  async 'intelligence.silence.create wrong_state'(stage) {
    const held = await post(stage, '/signal-silence', sampleSilence())
    for (let made = 0; made < most_silences; made += 1) {
      const next = await post(stage, '/signal-silence', sampleSilence())
      if (next.status !== 201) return next
    }
    return held
  },
  async 'intelligence.silence.end wrong_state'(stage) {
    const path = `/signal-silence/${stage.intelligence.toEnd}/end`
    await post(stage, path)
    return post(stage, path)
  },
  'intelligence.insight.open not_found': (stage) =>
    post(stage, '/insight', { signal_id: 'sig_000000000000', title: 'Why?' }),
  'intelligence.insight.open label_denied': async (stage) => {
    const signal_id = await raised(stage, { classification: 'UNCLASSIFIED' })
    const given = { signal_id, title: 'Why?', classification: 'SECRET' }
    return post(stage, '/insight', given, await uncleared(stage))
  },
  'intelligence.insight.start wrong_state': async (stage) => post(stage, `/insight/${await closed(stage)}/start`),
  'intelligence.insight.close wrong_state': (stage) =>
    post(stage, `/insight/${stage.intelligence.insight}/close`, { rationale: 'soon' }),
  'intelligence.edition.draft wrong_state': async (stage) =>
    post(stage, `/insight/${await closed(stage)}/edition`, sampleEdition),
  async 'intelligence.edition.attest wrong_state'(stage) {
    const uid = await closable(stage)
    const { json } = await post(stage, `/insight/${uid}/edition`, { ...sampleEdition, closes: true })
    const [edition] = (json as { editions: { edition_id: string }[] }).editions
    return post(stage, `/insight/${uid}/edition/${edition?.edition_id}/attest`)
  },
}
