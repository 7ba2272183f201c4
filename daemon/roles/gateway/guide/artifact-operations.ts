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

export const artifactCollections = [artifacts, artifactHistory, guideAudits, proposals, curators]
export const artifactWorkers = [finishChanges, coalesce]
export const artifactOperations = {
  'guide.artifact': { list, get, edit, promote, demote, rollback, forget },
  'guide.audit': { list: auditList },
  'guide.curator': { get: curatorGet, pause, resume },
  'guide.decision': { list: decisionList, explain, discuss },
  'guide.proposal': { list: proposalList, accept, dismiss },
}
