// Artifacts of the guidance layer in the declaration of the gateway role: collections, workers, operations and metrics.
import { demote } from './artifact/demote.ts'
import { edit } from './artifact/edit.ts'
import { finishChanges } from './artifact/finish-changes.ts'
import { forget } from './artifact/forget.ts'
import { get } from './artifact/get.ts'
import { list } from './artifact/list.ts'
import { artifactHistory, artifacts } from './artifact/model.ts'
import { promote } from './artifact/promote.ts'
import { rollback } from './artifact/rollback.ts'
import { list as auditList } from './audit/list.ts'
import { guideAudits } from './audit/model.ts'
import { coalesce } from './coalescer/coalesce.ts'
import { get as curatorGet } from './curator/get.ts'
import { curators } from './curator/model.ts'
import { pause } from './curator/pause.ts'
import { resume } from './curator/resume.ts'
import { discuss } from './decision/discuss.ts'
import { explain } from './decision/explain.ts'
import { list as decisionList } from './decision/list.ts'
import { accept } from './proposal/accept.ts'
import { dismiss } from './proposal/dismiss.ts'
import { list as proposalList } from './proposal/list.ts'
import { proposals } from './proposal/model.ts'
import { acceptSets } from './set/accept-sets.ts'
import { approve } from './set/approve.ts'
import { artifacts as setArtifactList } from './set/artifacts.ts'
import { exportSet } from './set/export.ts'
import { get as setGet } from './set/get.ts'
import { importSet } from './set/import.ts'
import { list as setList } from './set/list.ts'
import { guidanceSets, setArtifacts, setOrigins } from './set/model.ts'
import { reject } from './set/reject.ts'
import { request } from './set/request.ts'

export const artifactCollections = [
  ...[artifacts, artifactHistory, guideAudits, proposals, curators],
  ...[guidanceSets, setArtifacts, setOrigins],
]
export const artifactWorkers = [finishChanges, coalesce, acceptSets]
export const artifactOperations = {
  'guide.artifact': { list, get, edit, promote, demote, rollback, forget },
  'guide.audit': { list: auditList },
  'guide.curator': { get: curatorGet, pause, resume },
  'guide.decision': { list: decisionList, explain, discuss },
  'guide.set': {
    ...{ list: setList, get: setGet, artifacts: setArtifactList, export: exportSet, import: importSet },
    ...{ request, approve, reject },
  },
  'guide.proposal': { list: proposalList, accept, dismiss },
}
