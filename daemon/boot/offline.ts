// The one door from the command line to the site's files: what needs no running daemon, each part loaded when used.
import { findSite, siteFolder, socketOf } from './site-folder.ts'

export type { SiteFolder } from './site-folder.ts'

export const offline = {
  findSite,
  siteFolder,
  socketOf,
  making: () => import('./offline/make-site.ts'),
  profile: () => import('./offline/site-profile.ts'),
  keys: () => import('./offline/site-keys.ts'),
  tokens: () => import('./offline/site-tokens.ts'),
  peers: () => import('./offline/site-peers.ts'),
  filedrop: () => import('./offline/filedrop-files.ts'),
  evidence: () => import('./offline/evidence-file.ts'),
  audit: () => import('./offline/audit-files.ts'),
  store: () => import('./offline/store-files.ts'),
  examination: () => import('./offline/examination.ts'),
} as const
