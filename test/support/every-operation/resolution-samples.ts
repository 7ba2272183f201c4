// One good request for each operation of the resolution role.

import type { OperationSamples } from './operation-samples.ts'
import {
  buildArrivalInput,
  buildBravoProposal,
  buildLens,
  buildProposalInput,
  buildRunInput,
  sampleData,
  sampleSession,
} from './resolution-objects.ts'

const keyedRun = { input: buildRunInput(), another: { seed: 2 } }

export const resolutionSamples: OperationSamples = {
  'resolution.lens.create': () => ({
    input: { body: buildLens('2.0.0'), classification: 'SECRET' },
    keyed: {
      input: { body: buildLens('2.1.0'), classification: 'SECRET' },
      another: { body: buildLens('2.2.0') },
    },
  }),
  'resolution.lens.get': ({ resolution: { lens } }) => ({ input: { uid: lens } }),
  'resolution.lens-binding.get': ({ resolution: { binding } }) => ({ input: { uid: binding } }),
  'resolution.entity-match.get': ({ resolution: { match } }) => ({ input: { uid: match } }),
  'resolution.entity-match.explain': ({ resolution: { match } }) => ({ input: { correlation_id: match } }),
  'resolution.entity-match.review': ({ resolution: { match } }) => ({
    input: { correlation_id: match, decision: 'defer' },
    keyed: { input: { correlation_id: match, decision: 'defer' }, another: { decision: 'reject' } },
  }),
  'resolution.entity-match.attest': ({ resolution: { match } }) => ({
    input: { correlation_id: match, attester_id: 'ada', decision: 'defer' },
    keyed: {
      input: { correlation_id: match, attester_id: 'ada', decision: 'defer' },
      another: { decision: 'reject' },
    },
  }),
  'resolution.entity-match.consult': ({ resolution: { match } }) => ({
    input: { correlation_id: match, policy: { m: 1, n: 1 } },
  }),
  'resolution.entity-match.rule': ({ resolution: { ruled } }) => ({
    input: {
      ...{ correlation_id: ruled, tenant_id: 'alpha', session_id: sampleSession, seq: 3, event: 'ratified' },
      ...{ at: '2026-03-02T12:00:00.000Z', decision: 'match' },
    },
  }),
  'resolution.entity.find': () => ({ input: { lens: 'people', node_id: 'a', record_id: '0' } }),
  'resolution.entity-record.forget': () => ({
    input: { lens: 'removable', node_id: 'north', record_id: '2', reason: 'requested' },
  }),
  'resolution.entity-cluster.remove': ({ resolution: { removable } }) => ({
    input: { uid: removable, reason: 'test data' },
  }),
  'resolution.entity.search': () => ({ input: { where: { surname: 'Berg' } } }),
  'resolution.entity.related': ({ resolution: { cluster } }) => ({ input: { uid: cluster, by: 'surname' } }),
  'resolution.golden-record.get': ({ resolution: { cluster } }) => ({ input: { uid: cluster } }),
  'resolution.entity-change.list': () => ({ input: { lens: 'people' } }),
  'resolution.entity-change.history': ({ resolution: { cluster } }) => ({ input: { uid: cluster } }),
  'resolution.entity-record.list': ({ resolution: { cluster } }) => ({ input: { uid: cluster } }),
  'resolution.entity.lookup': () => ({ input: { record: { given_name: 'Anna', surname: 'Berg' } } }),
  'resolution.arrival.create': () => ({
    input: buildArrivalInput(),
    keyed: { input: buildArrivalInput(), another: { node_id: 'd' } },
  }),
  'resolution.arrival.get': ({ resolution: { arrival } }) => ({ input: { uid: arrival } }),
  'resolution.arrival-file.list': () => ({ input: {} }),
  'resolution.arrival-folder.list': () => ({ input: {} }),
  'resolution.registry.export': () => ({ input: { peer: 'bravo', lens_id: 'people' } }),
  'resolution.fusion-run.summary': ({ resolution: { run } }) => ({ input: { run_id: run } }),
  'resolution.entity-cluster.get': ({ resolution: { cluster } }) => ({ input: { uid: cluster } }),
  'resolution.fusion-run.get': ({ resolution: { run } }) => ({ input: { uid: run } }),
  'resolution.fusion-run.start': () => ({ input: buildRunInput(), keyed: keyedRun }),
  'resolution.fusion-run.status': ({ resolution: { run } }) => ({ input: { run_id: run } }),
  'resolution.fusion-run.cancel': ({ resolution: { doomed } }) => ({ input: { run_id: doomed } }),
  'resolution.fusion.extract': () => ({ input: buildRunInput(), keyed: keyedRun }),
  'resolution.fusion.match': ({ resolution: { extracted } }) => ({ input: { run_id: extracted } }),
  'resolution.fusion.resolve': ({ resolution: { matched } }) => ({ input: { run_id: matched } }),
  'resolution.exchange.propose': () => ({
    input: buildProposalInput(),
    keyed: { input: buildProposalInput(), another: { seed: 2 } },
  }),
  'resolution.exchange.get': ({ resolution: { exchange } }) => ({ input: { uid: exchange } }),
  'resolution.exchange.agree': ({ resolution: { proposedByBravo } }) => ({
    input: { uid: proposedByBravo, data: sampleData },
  }),
  'resolution.exchange.cancel': ({ resolution: { doomedExchange } }) => ({ input: { uid: doomedExchange } }),
  'resolution.exchange.receive': async ({ signMessage }) => ({
    input: await signMessage('resolution', buildBravoProposal(`xchg_${'b'.repeat(32)}`)),
  }),
}
