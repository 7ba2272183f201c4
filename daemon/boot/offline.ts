// The one door from the command line to the site's files: what needs no running daemon, each part loaded when used.
import { invoker } from '../../adapters/host/users/system-users.ts'
import { actAsOwnerOf, asInvoker } from './acting.ts'
import { findSite, siteFolder, socketOf } from './site-folder.ts'

export type { SiteFolder } from './site-folder.ts'

export const offline = {
  findSite,
  siteFolder,
  socketOf,
  actAsOwnerOf,
  asInvoker,
  invoker,
  dividing: () => import('./offline/divide-site.ts'),
  making: () => import('./offline/make-site.ts'),
  profile: () => import('./offline/site-profile.ts'),
  keys: () => import('./offline/site-keys.ts'),
  keySets: () => import('./offline/key-set-commands.ts'),
  authority: () => import('./offline/site-authority.ts'),
  certificate: () => import('./offline/site-certificate.ts'),
  passphrase: () => import('./offline/site-passphrase.ts'),
  tokens: () => import('./offline/site-tokens.ts'),
  providerTokens: () => import('./offline/provider-tokens.ts'),
  peers: () => import('./offline/site-peers.ts'),
  peerKeys: () => import('./offline/peer-keys.ts'),
  people: () => import('./offline/site-people.ts'),
  personalSignature: () => import('./offline/personal-signature.ts'),
  filedrop: () => import('./offline/filedrop-files.ts'),
  courier: () => import('./offline/courier-media.ts'),
  epochs: () => import('./offline/epoch-signing.ts'),
  evidence: () => import('./offline/evidence-file.ts'),
  audit: () => import('./offline/audit-files.ts'),
  store: () => import('./offline/store-files.ts'),
  adoption: () => import('./offline/store-adoption.ts'),
  migration: () => import('./offline/store-migration.ts'),
  restoring: () => import('./offline/store-restore.ts'),
  shipped: () => import('./offline/shipped-files.ts'),
  lenses: () => import('./offline/lens-file.ts'),
  newFiles: () => import('./offline/new-files.ts'),
  lensProposal: () => import('./offline/lens-proposal.ts'),
  lensImport: () => import('./offline/lens-import.ts'),
  lensTraining: () => import('./offline/lens-training.ts'),
  lensPictures: () => import('./offline/lens-pictures.ts'),
  resolution: () => import('./offline/resolve-files.ts'),
  resolutionQuality: () => import('./offline/resolution-quality.ts'),
  door: () => import('./offline/door-rules.ts'),
  examination: () => import('./offline/examination.ts'),
} as const
