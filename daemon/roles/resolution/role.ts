// The resolution role: lenses, runs over records, and the matches and clusters that runs find.
import { jobLeases } from '../../kernel/job/lease.ts'
import { type Role, role } from '../../kernel/role/role.ts'
import { dataKeys } from '../../kernel/secret/stored-data-key.ts'
import { create as arrivalCreate } from './arrival/create.ts'
import * as arrivalGet from './arrival/get.ts'
import { arrivals } from './arrival/model.ts'
import { list as arrivalFileList } from './arrival-file/list.ts'
import { arrivalFiles } from './arrival-file/model.ts'
import { list as arrivalFolderList } from './arrival-folder/list.ts'
import { find } from './entity/find.ts'
import { lookup } from './entity/lookup.ts'
import { related } from './entity/related.ts'
import { search } from './entity/search.ts'
import { history } from './entity-change/history.ts'
import * as changeList from './entity-change/list.ts'
import { entityChangeLogs, entityChanges } from './entity-change/model.ts'
import * as clusterGet from './entity-cluster/get.ts'
import * as clusterList from './entity-cluster/list.ts'
import { entityClusters } from './entity-cluster/model.ts'
import { remove } from './entity-cluster/remove.ts'
import { attest } from './entity-match/attest.ts'
import { consult } from './entity-match/consult.ts'
import { explain } from './entity-match/explain.ts'
import * as matchGet from './entity-match/get.ts'
import * as matchList from './entity-match/list.ts'
import { entityMatches } from './entity-match/model.ts'
import { review } from './entity-match/review.ts'
import { rule } from './entity-match/rule.ts'
import { uncertain } from './entity-match/uncertain.ts'
import { forget } from './entity-record/forget.ts'
import * as recordList from './entity-record/list.ts'
import { entityRecords } from './entity-record/model.ts'
import { registryHeads } from './entity-record/write-numbered.ts'
import { agree } from './exchange/agree.ts'
import { cancelExchange } from './exchange/cancel.ts'
import * as exchangeGet from './exchange/get.ts'
import * as exchangeList from './exchange/list.ts'
import { exchangePieces, exchanges } from './exchange/model.ts'
import { exchangeJob } from './exchange/progress/exchange-job.ts'
import { propose } from './exchange/propose.ts'
import { receive } from './exchange/receive.ts'
import { extract } from './fusion/extract.ts'
import { match } from './fusion/match.ts'
import { resolve } from './fusion/resolve.ts'
import { runJob } from './fusion/run-job.ts'
import { cancel } from './fusion-run/cancel.ts'
import * as runGet from './fusion-run/get.ts'
import * as runList from './fusion-run/list.ts'
import { fusionRuns, runState } from './fusion-run/model.ts'
import { start } from './fusion-run/start.ts'
import { status } from './fusion-run/status.ts'
import { summary } from './fusion-run/summary.ts'
import { get as goldenGet } from './golden-record/get.ts'
import { create as lensCreate } from './lens/create.ts'
import * as lensGet from './lens/get.ts'
import { lensRequests } from './lens/lens-requests.ts'
import * as lensList from './lens/list.ts'
import { lenses } from './lens/stored-lens.ts'
import * as bindingGet from './lens-binding/get.ts'
import * as bindingList from './lens-binding/list.ts'
import { lensBindings } from './lens-binding/model.ts'
import { matchingWorker } from './matching.ts'
import { metrics, runCount } from './metrics.ts'
import { outline } from './outline.ts'
import { exportRegistry } from './registry/export.ts'
import { get as registryGet } from './registry/get.ts'
import { resources } from './resources.ts'
import { editions } from './snapshot/edition.ts'
import { entityRemovals } from './withdrawal/entity-removal.ts'
import { arrivalFoldersWorker } from './workers/arrival-folders.ts'
import { consultWorker } from './workers/consult.ts'
import { entityChangesWorker } from './workers/entity-changes.ts'
import { filesWorker } from './workers/files.ts'
import { peerDecisionsWorker } from './workers/peer-decisions.ts'
import { reclusterWorker } from './workers/recluster.ts'
import { registryIndexWorker } from './workers/registry-index.ts'

/** Lower-case names under which the objects of this role are addressed. */
const objectNames = ['lens', 'lensbinding', 'entitymatch', 'entitycluster', 'fusionrun']

export const resolution: Role = role(outline, {
  collections: [
    lenses,
    lensRequests,
    lensBindings,
    entityMatches,
    entityClusters,
    entityChanges,
    entityChangeLogs,
    entityRecords,
    entityRemovals,
    registryHeads,
    editions,
    arrivals,
    arrivalFiles,
    fusionRuns,
    jobLeases,
    exchanges,
    exchangePieces,
    dataKeys,
  ],
  metrics,
  jobs: [runJob, exchangeJob],
  workers: [
    filesWorker,
    registryIndexWorker,
    ...[arrivalFoldersWorker, reclusterWorker, entityChangesWorker, consultWorker, peerDecisionsWorker].map(
      matchingWorker,
    ),
  ],
  operations: {
    lens: { list: lensList.list, get: lensGet.get, create: lensCreate },
    'lens-binding': { list: bindingList.list, get: bindingGet.get },
    'entity-match': { list: matchList.list, get: matchGet.get, review, attest, consult, rule, uncertain, explain },
    'entity-cluster': { list: clusterList.list, get: clusterGet.get, remove },
    'entity-change': { list: changeList.list, history },
    'entity-record': { list: recordList.list, forget },
    entity: { find, lookup, search, related },
    'golden-record': { get: goldenGet },
    registry: { get: registryGet, export: exportRegistry },
    arrival: { create: arrivalCreate, get: arrivalGet.get },
    'arrival-file': { list: arrivalFileList },
    'arrival-folder': { list: arrivalFolderList },
    'fusion-run': { list: runList.list, get: runGet.get, start, status, cancel, summary },
    fusion: { extract, match, resolve },
    exchange: { propose, list: exchangeList.list, get: exchangeGet.get, agree, cancel: cancelExchange, receive },
  },
  messages: { resolution: receive },
  resources,
  serviceInfo: ({ deployment_profile, transports, settings: resolved }) => ({
    name: 'resolution-service',
    description: 'Entity resolution: lenses, runs, matches and clusters',
    health_path: '/health',
    api_path: '/api/v2',
    capabilities: ['entity-resolution', 'lens-registry', 'three-phase-protocol', 'private-set-intersection'],
    objects: objectNames,
    matching_pattern: resolved.values.get('resolution')?.matching_pattern,
    deployment_profile,
    supported_transports: [...transports],
  }),
  async gauges(call) {
    const counted = await call.store(fusionRuns).countBy('state')
    for (const state of runState.options) call.set(runCount, { state }, counted.get(state) ?? 0)
  },
})
