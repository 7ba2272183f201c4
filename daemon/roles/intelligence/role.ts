// The intelligence role: its collections, operations, workers and metrics.
import { jobLeases } from '../../kernel/job/lease.ts'
import { type Role, role } from '../../kernel/role/role.ts'
import { bulkJob } from './bulk/bulk-job.ts'
import * as bulkCancel from './bulk/cancel.ts'
import * as bulkCreate from './bulk/create.ts'
import * as bulkGet from './bulk/get.ts'
import * as bulkList from './bulk/list.ts'
import { bulks } from './bulk/model.ts'
import { plan } from './bulk/plan.ts'
import { signalChanges, signalLogs } from './change-log/model.ts'
import { attest } from './edition/attest.ts'
import { draft } from './edition/draft.ts'
import { takeSignal } from './federation/signal.ts'
import { close } from './insight/close.ts'
import { edit } from './insight/edit.ts'
import * as insightGet from './insight/get.ts'
import * as insightList from './insight/list.ts'
import { insights } from './insight/model.ts'
import { open } from './insight/open.ts'
import { start } from './insight/start.ts'
import * as ledgerList from './ledger/list.ts'
import { ledgerEvents } from './ledger/model.ts'
import { metrics, signalActive, signalSilenced } from './metrics.ts'
import { outline } from './outline.ts'
import { acknowledge } from './signal/acknowledge.ts'
import { archive } from './signal/archive.ts'
import { byEntity } from './signal/by-entity.ts'
import { changes } from './signal/changes.ts'
import { changesOf } from './signal/changes-of.ts'
import { create } from './signal/create.ts'
import { exportStix } from './signal/export.ts'
import { get } from './signal/get.ts'
import { linkInsight } from './signal/link-insight.ts'
import { list } from './signal/list.ts'
import { merge } from './signal/merge.ts'
import { signals } from './signal/model.ts'
import { open_statuses } from './signal/rules.ts'
import { send } from './signal/send.ts'
import { setDisposition } from './signal/set-disposition.ts'
import { similar } from './signal/similar.ts'
import { statistics } from './signal/statistics.ts'
import { unmerge } from './signal/unmerge.ts'
import { raiseCause } from './signal-intake/cause.ts'
import { deliver } from './signal-intake/deliver.ts'
import { intakeTotal } from './signal-intake/metrics.ts'
import { raise } from './signal-intake/raise.ts'
import { findSourcesFault } from './signal-source/faults.ts'
import * as sources from './signal-source/list.ts'
import { refusedItems, signalSources } from './signal-source/model.ts'
import * as refused from './signal-source/refused.ts'
import * as sourceTest from './signal-source/test.ts'
import * as silenceCreate from './silence/create.ts'
import { end } from './silence/end.ts'
import * as silenceGet from './silence/get.ts'
import * as silenceList from './silence/list.ts'
import { silences } from './silence/model.ts'
import { earlierBulks } from './workers/earlier-bulks.ts'
import { expiry } from './workers/expiry.ts'
import { intake } from './workers/intake.ts'
import { log } from './workers/log.ts'
import { relay } from './workers/relay.ts'
import { siteCauses } from './workers/site-causes.ts'

export const intelligence: Role = role(outline, {
  collections: [
    ...[signals, insights, ledgerEvents, bulks, silences, jobLeases],
    ...[signalChanges, signalLogs, signalSources, refusedItems],
  ],
  metrics: [...metrics, intakeTotal],
  jobs: [bulkJob],
  workers: [relay, expiry, earlierBulks, log, intake, siteCauses],
  operations: {
    signal: {
      create,
      list,
      get,
      'by-entity': byEntity,
      acknowledge,
      'set-disposition': setDisposition,
      archive,
      'link-insight': linkInsight,
      merge,
      unmerge,
      changes,
      'changes-of': changesOf,
      similar,
      statistics,
      export: exportStix,
      send,
    },
    'signal-source': { list: sources.list, refused: refused.list, test: sourceTest.test },
    'signal-intake': { deliver, raise, cause: raiseCause },
    federation: { signal: takeSignal },
    insight: { open, list: insightList.list, get: insightGet.get, edit, start, close },
    bulk: {
      create: bulkCreate.create,
      plan,
      list: bulkList.list,
      get: bulkGet.get,
      cancel: bulkCancel.cancel,
    },
    silence: { create: silenceCreate.create, list: silenceList.list, get: silenceGet.get, end },
    edition: { draft, attest },
    ledger: { list: ledgerList.list },
  },
  refusesToStart: findSourcesFault,
  messages: { signal: takeSignal },
  serviceInfo: ({ deployment_profile }) => ({
    name: 'intelligence-service',
    description: 'Signals, the insights that investigate them, and their ledgers',
    health_path: '/health',
    api_path: '/api/v1',
    capabilities: ['signal', 'bulk-disposition', 'silence', 'insight', 'edition-attestation', 'insight-ledger'],
    objects: ['signal', 'insight'],
    deployment_profile,
  }),
  async gauges(call) {
    // Closed signals are the majority; counting them at each scrape would be too slow.
    const gauges = { listed: signalActive, silenced: signalSilenced }
    for (const visibility of ['listed', 'silenced'] as const) {
      const counted = await call.store(signals).countBy('status', { status: { in: open_statuses }, visibility })
      for (const status of open_statuses) call.set(gauges[visibility], { status }, counted.get(status) ?? 0)
    }
  },
})
