// One good request for each operation of the intelligence role.
import { sampleEdition, sampleSignal } from './intelligence-objects.ts'
import type { Samples } from './samples.ts'

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
