// Entry point from the command line to the site's files, for commands without a daemon; each part is loaded on first
// use.
import { invoker } from '../../adapters/host/users/system-users.ts'
import { actAsOwnerOf, becomeOwnerOf, runAsInvoker } from '../boot/host/act-as-owner.ts'
import { findSite, roleSocketFile, siteFolder } from '../boot/storage/site-folder.ts'
import { readInputFile } from './read-input-file.ts'
import { role_task_argument } from './role-task/role-task-argument.ts'
import { selfCommand } from './self-command.ts'

export type { SiteFolder } from '../boot/storage/site-folder.ts'

export const offline = {
  findSite,
  siteFolder,
  socketOf: roleSocketFile,
  actAsOwnerOf,
  becomeOwnerOf,
  asInvoker: runAsInvoker,
  readInputFile,
  invoker,
  role_task_argument,
  selfCommand,
  siteDivision: () => import('./site/divide-site.ts'),
  siteCreation: () => import('./site/make-site.ts'),
  profile: () => import('./site/site-profile.ts'),
  keys: () => import('./keys/site-keys.ts'),
  spokenKeys: () => import('./keys/spoken-keys.ts'),
  wrappingKeys: () => import('./keys/wrapping-keys.ts'),
  keySets: () => import('./keys/key-set-commands.ts'),
  authority: () => import('./keys/site-authority.ts'),
  certificate: () => import('./keys/site-certificate.ts'),
  passphrase: () => import('./keys/site-passphrase.ts'),
  secrets: () => import('./read-named-secret.ts'),
  tokens: () => import('./token/site-tokens.ts'),
  providerTokens: () => import('./token/provider-tokens.ts'),
  peers: () => import('./peers/site-peers.ts'),
  peerSettings: () => import('./peers/peer-settings.ts'),
  peerKeys: () => import('./peers/peer-keys.ts'),
  people: () => import('./people/site-people.ts'),
  personalSignature: () => import('./people/personal-signature.ts'),
  filedrop: () => import('./filedrop/filedrop-files.ts'),
  courier: () => import('./filedrop/courier-media.ts'),
  epochSigning: () => import('./filedrop/epoch-signing.ts'),
  evidence: () => import('./evidence/evidence-file.ts'),
  pinnedEvidenceKeys: () => import('./evidence/pinned-evidence-keys.ts'),
  audit: () => import('./audit/audit-chains.ts'),
  auditExport: () => import('./audit/audit-export.ts'),
  auditExportVerification: () => import('./audit/audit-export-verification.ts'),
  store: () => import('./store/store-files.ts'),
  siteOwners: () => import('./site/has-one-owner.ts'),
  roleTask: () => import('./role-task/answer-role-task.ts'),
  adoption: () => import('./store/store-adoption.ts'),
  migration: () => import('./store/store-migration.ts'),
  restore: () => import('./store/store-restore.ts'),
  shippedFiles: () => import('./site/shipped-files.ts'),
  lenses: () => import('./resolve/lens/lens-file.ts'),
  newFiles: () => import('./resolve/new-files.ts'),
  lensProposal: () => import('./resolve/lens/lens-proposal.ts'),
  lensImport: () => import('./resolve/lens/lens-import.ts'),
  lensTraining: () => import('./resolve/lens/lens-training.ts'),
  lensCharts: () => import('./resolve/lens/lens-charts.ts'),
  fileResolution: () => import('./resolve/resolve-files.ts'),
  fileMatching: () => import('./resolve/match-files.ts'),
  registrySnapshot: () => import('./resolve/registry/registry-snapshot.ts'),
  evaluation: () => import('./resolve/evaluate-files.ts'),
  proxyRules: () => import('./proxy/proxy-rules.ts'),
  toolServices: () => import('./tools/tool-services.ts'),
  doctor: () => import('./doctor/examine-site.ts'),
} as const
