// Every task that a process of a role's user may run.
import { listAuditRecords, listCheckpoints, verifyAuditChain } from '../audit/audit-chains.ts'
import { readChainSpan } from '../audit/audit-export.ts'
import { appendAuditEvent } from '../audit/operator-action.ts'
import { findNewestRecords } from '../doctor/checks/clock.ts'
import { findFalseResults } from '../doctor/checks/results.ts'
import { listNeededWrappingKeys } from '../doctor/checks/secrets.ts'
import { examineTraffic } from '../doctor/checks/traffic.ts'
import { installOwnCertificate } from '../keys/role-certificate.ts'
import { generateOwnKey, revokeOwnKey, rotateOwnKey } from '../keys/role-keys.ts'
import { findChangedContributors } from '../peers/namesakes.ts'
import { storeSnapshot } from '../resolve/registry/registry-snapshot.ts'
import { holdLock } from '../store/role-locks.ts'
import { planAdoption, recordAdoption } from '../store/store-adoption.ts'
import { checkDatabase, copyDatabase, readDatabaseStatus } from '../store/store-files.ts'
import { checkMigration, migrateDocuments } from '../store/store-migration.ts'
import { prepareSiteDatabase, stageDatabase } from '../store/store-restore.ts'
import type { RoleTaskService } from './role-task.ts'

export const roleTasks: readonly RoleTaskService[] = [
  appendAuditEvent,
  listAuditRecords,
  listCheckpoints,
  readChainSpan,
  verifyAuditChain,
  findFalseResults,
  findNewestRecords,
  examineTraffic,
  listNeededWrappingKeys,
  generateOwnKey,
  revokeOwnKey,
  rotateOwnKey,
  installOwnCertificate,
  findChangedContributors,
  storeSnapshot,
  holdLock,
  planAdoption,
  recordAdoption,
  checkDatabase,
  copyDatabase,
  readDatabaseStatus,
  checkMigration,
  migrateDocuments,
  prepareSiteDatabase,
  stageDatabase,
]
