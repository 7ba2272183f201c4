// One good request for each operation of the intelligence role.
import { sampleEdition, sampleSignal, sampleSilence } from './intelligence-objects.ts'
import type { Samples } from './samples.ts'

/** What the table does not allow, so that the signal stays as it is. */
const sampleBulk = (signal: string) => ({ signal_ids: [signal], disposition: 'resolved', rationale: 'sample' })

export const intelligence: Samples = {
  'intelligence.signal.create': () => ({
    input: sampleSignal(),
    keyed: { input: sampleSignal(), another: { title: 'Aurora gone' } },
  }),
  'intelligence.signal.get': ({ intelligence: { signal } }) => ({ input: { uid: signal } }),
  // An entity is none of this role's objects: who may not see its signals is told of none.
  'intelligence.signal.by-entity': () => ({ input: { entity_id: 'ship-1' }, isTenants: false }),
  'intelligence.signal.acknowledge': ({ intelligence: { toAcknowledge: uid } }) => ({ input: { uid } }),
  'intelligence.signal.set-disposition': ({ intelligence: { toDismiss: uid } }) => ({
    input: { uid, disposition: 'investigating', rationale: 'sample' },
  }),
  'intelligence.signal.archive': ({ intelligence: { toArchive: uid } }) => ({ input: { uid } }),
  'intelligence.signal.link-insight': ({ intelligence: { toLink: uid, insight: insight_id } }) => ({
    input: { uid, insight_id },
  }),
  // Merged already: a repeat is no change.
  'intelligence.signal.merge': ({ intelligence: { survivor: uid, merged } }) => ({
    input: { uid, signal_ids: [merged], rationale: 'sample' },
  }),
  'intelligence.signal.unmerge': ({ intelligence: { merged: uid } }) => ({ input: { uid, rationale: 'sample' } }),
  'intelligence.bulk.create': ({ intelligence: { signal } }) => ({
    input: sampleBulk(signal),
    keyed: { input: sampleBulk(signal), another: { rationale: 'another' } },
  }),
  'intelligence.bulk.plan': ({ intelligence: { signal } }) => ({
    input: { signal_ids: [signal], disposition: 'dismissed' },
  }),
  'intelligence.bulk.get': ({ intelligence: { bulk: uid } }) => ({ input: { uid } }),
  'intelligence.bulk.cancel': ({ intelligence: { toCancel: uid } }) => ({ input: { uid } }),
  'intelligence.silence.create': () => {
    const input = sampleSilence()
    return { input, keyed: { input, another: { reason: 'another' } } }
  },
  'intelligence.silence.get': ({ intelligence: { silence: uid } }) => ({ input: { uid } }),
  'intelligence.silence.end': ({ intelligence: { toEnd: uid } }) => ({ input: { uid } }),
  'intelligence.signal.similar': ({ intelligence: { signal } }) => ({ input: { uid: signal } }),
  'intelligence.signal.changes-of': ({ intelligence: { signal } }) => ({ input: { uid: signal } }),
  'intelligence.insight.open': ({ intelligence: { signal: signal_id } }) => ({
    input: { signal_id, title: 'Why?' },
    keyed: { input: { signal_id, title: 'Why?' }, another: { title: 'How?' } },
  }),
  'intelligence.insight.get': ({ intelligence: { insight } }) => ({ input: { uid: insight } }),
  'intelligence.insight.start': ({ intelligence: { toStart: uid } }) => ({ input: { uid } }),
  'intelligence.insight.close': ({ intelligence: { toClose: uid } }) => ({ input: { uid, rationale: 'sample' } }),
  'intelligence.edition.draft': ({ intelligence: { insight: uid } }) => ({
    input: { uid, ...sampleEdition },
    keyed: { input: { uid, ...sampleEdition }, another: { title: 'What we knew' } },
  }),
  'intelligence.edition.attest': ({ intelligence: { toAttest: uid, edition: edition_id } }) => ({
    input: { uid, edition_id },
  }),
  'intelligence.ledger.list': ({ intelligence: { insight } }) => ({ input: { uid: insight } }),
}
