// One good request for each operation of the intelligence role.
import {
  buildSignalInput,
  buildSilenceInput,
  peerSignal,
  sampleEdition,
  sampleItem,
  sampleSubject,
} from './intelligence-objects.ts'
import { secretLabel } from './operation-fixture.ts'
import type { OperationSamples } from './operation-samples.ts'

/** A transition that the table forbids, so that the signal stays as it is. */
const buildBulkInput = (signal: string) => ({ signal_ids: [signal], disposition: 'resolved', rationale: 'sample' })

export const intelligenceSamples: OperationSamples = {
  'intelligence.signal.create': () => ({
    input: buildSignalInput(),
    keyed: { input: buildSignalInput(), another: { title: 'Aurora gone' } },
  }),
  'intelligence.signal.get': ({ intelligence: { signal } }) => ({ input: { uid: signal } }),
  // An entity is not an object of this role: a caller below its signals sees none.
  'intelligence.signal.by-entity': () => ({ input: { entity_id: 'ship-1' }, isTenants: false }),
  'intelligence.signal.acknowledge': ({ intelligence: { toAcknowledge: uid } }) => ({ input: { uid } }),
  'intelligence.signal.set-disposition': ({ intelligence: { toDismiss: uid } }) => ({
    input: { uid, disposition: 'investigating', rationale: 'sample' },
  }),
  'intelligence.signal.archive': ({ intelligence: { toArchive: uid } }) => ({ input: { uid } }),
  'intelligence.signal.link-insight': ({ intelligence: { toLink: uid, insight: insight_id } }) => ({
    input: { uid, insight_id },
  }),
  // Merged already: a repeat changes nothing.
  'intelligence.signal.merge': ({ intelligence: { survivor: uid, merged } }) => ({
    input: { uid, signal_ids: [merged], rationale: 'sample' },
  }),
  'intelligence.signal.unmerge': ({ intelligence: { merged: uid } }) => ({ input: { uid, rationale: 'sample' } }),
  'intelligence.bulk.create': ({ intelligence: { signal } }) => ({
    input: buildBulkInput(signal),
    keyed: { input: buildBulkInput(signal), another: { rationale: 'another' } },
  }),
  'intelligence.bulk.plan': ({ intelligence: { signal } }) => ({
    input: { signal_ids: [signal], disposition: 'dismissed' },
  }),
  'intelligence.bulk.get': ({ intelligence: { bulk: uid } }) => ({ input: { uid } }),
  'intelligence.bulk.cancel': ({ intelligence: { toCancel: uid } }) => ({ input: { uid } }),
  'intelligence.silence.create': () => {
    const input = buildSilenceInput()
    return { input, keyed: { input, another: { reason: 'another' } } }
  },
  'intelligence.silence.get': ({ intelligence: { silence: uid } }) => ({ input: { uid } }),
  'intelligence.silence.end': ({ intelligence: { toEnd: uid } }) => ({ input: { uid } }),
  'intelligence.signal.similar': ({ intelligence: { signal } }) => ({ input: { uid: signal } }),
  'intelligence.signal.changes-of': ({ intelligence: { signal } }) => ({ input: { uid: signal } }),
  'intelligence.signal.send': ({ intelligence: { signal: uid } }) => ({ input: { uid, peer: 'bravo' } }),
  // Of the profile, not a tenant's objects: a source of another tenant is one that is not there.
  'intelligence.signal-source.refused': () => ({ input: { name: 'sample' }, isTenants: false }),
  'intelligence.signal-source.test': () => ({ input: { name: 'sample', sample: sampleItem }, isTenants: false }),
  'intelligence.signal-intake.raise': () => ({
    input: {
      ...{
        origin: 'source:sample',
        key: 'sample',
        tenant_id: 'alpha',
        label: secretLabel,
        source: { type: 'polling' },
      },
      fields: { signal_type: 'sample', severity: 'low', title: 'a sample', subject: sampleSubject },
    },
  }),
  'intelligence.signal-intake.cause': () => ({
    input: {
      ...{ kind: 'failed_pipeline', key: 'sample', tenant_id: 'alpha', label: secretLabel, subject: sampleSubject },
      title: 'a run of a pipeline failed',
    },
  }),
  'intelligence.signal-intake.deliver': () => ({ input: { source: 'sample' }, isTenants: false }),
  'intelligence.federation.signal': async ({ signMessage }) => ({
    input: await signMessage('signal', { ...peerSignal, event_id: 'sample' }),
  }),
  'intelligence.insight.open': ({ intelligence: { signal: signal_id } }) => ({
    input: { signal_id, title: 'Why?' },
    keyed: { input: { signal_id, title: 'Why?' }, another: { title: 'How?' } },
  }),
  'intelligence.insight.get': ({ intelligence: { insight } }) => ({ input: { uid: insight } }),
  'intelligence.insight.edit': ({ intelligence: { insight: uid } }) => ({ input: { uid, title: 'How?' } }),
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
