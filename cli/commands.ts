// The one list of commands: the words typed, and the module that is loaded only when they are.
import type { AnyDefinition } from './command.ts'

type Load = () => Promise<{ readonly definition: AnyDefinition }>

/** What a first word, or the first two, stand for. */
export const groups: Readonly<Record<string, string>> = {
  audit: 'records of what was done, that stand alone',
  consensus: 'sessions: open, contribute, decide, watch',
  evidence: 'blocks that prove a ratification, that stand alone',
  filedrop: 'the cross-domain transport: channels and messages',
  'filedrop quarantine': 'messages that were refused, with the reason',
  keys: 'the site’s own keys',
  peers: 'other sites: pinned keys, tenant, ceiling, channels',
  profile: 'the site’s settings: check, explain, describe',
  store: 'the site’s data: state, backup, restore, check',
  token: 'access tokens of the site’s own issuer',
}

export const catalogue = {
  init: () => import('./commands/init.ts'),
  serve: () => import('./commands/serve.ts'),
  status: () => import('./commands/status.ts'),
  doctor: () => import('./commands/doctor.ts'),
  'profile validate': () => import('./commands/profile/validate.ts'),
  'profile explain': () => import('./commands/profile/explain.ts'),
  'profile schema': () => import('./commands/profile/schema.ts'),
  'token mint': () => import('./commands/token/mint.ts'),
  'token inspect': () => import('./commands/token/inspect.ts'),
  'token revoke': () => import('./commands/token/revoke.ts'),
  'keys generate': () => import('./commands/keys/generate.ts'),
  'keys list': () => import('./commands/keys/list.ts'),
  'keys rotate': () => import('./commands/keys/rotate.ts'),
  'keys revoke': () => import('./commands/keys/revoke.ts'),
  'keys export': () => import('./commands/keys/export.ts'),
  'peers add': () => import('./commands/peers/add.ts'),
  'peers list': () => import('./commands/peers/list.ts'),
  'peers show': () => import('./commands/peers/show.ts'),
  'peers remove': () => import('./commands/peers/remove.ts'),
  'filedrop status': () => import('./commands/filedrop/status.ts'),
  'filedrop send': () => import('./commands/filedrop/send.ts'),
  'filedrop inspect': () => import('./commands/filedrop/inspect.ts'),
  'filedrop verify': () => import('./commands/filedrop/verify.ts'),
  'filedrop quarantine list': () => import('./commands/filedrop/quarantine/list.ts'),
  'filedrop quarantine show': () => import('./commands/filedrop/quarantine/show.ts'),
  'consensus create': () => import('./commands/consensus/create.ts'),
  'consensus contribute': () => import('./commands/consensus/contribute.ts'),
  'consensus get': () => import('./commands/consensus/get.ts'),
  'consensus list': () => import('./commands/consensus/list.ts'),
  'consensus resolve': () => import('./commands/consensus/resolve.ts'),
  'consensus attest': () => import('./commands/consensus/attest.ts'),
  'consensus cancel': () => import('./commands/consensus/cancel.ts'),
  'consensus watch': () => import('./commands/consensus/watch.ts'),
  'consensus dissent': () => import('./commands/consensus/dissent.ts'),
  'evidence show': () => import('./commands/evidence/show.ts'),
  'evidence verify': () => import('./commands/evidence/verify.ts'),
  'audit list': () => import('./commands/audit/list.ts'),
  'audit export': () => import('./commands/audit/export.ts'),
  'audit verify': () => import('./commands/audit/verify.ts'),
  'store status': () => import('./commands/store/status.ts'),
  'store backup': () => import('./commands/store/backup.ts'),
  'store restore': () => import('./commands/store/restore.ts'),
  'store check': () => import('./commands/store/check.ts'),
  openapi: () => import('./commands/openapi.ts'),
  completion: () => import('./commands/completion.ts'),
  version: () => import('./commands/version.ts'),
} as const satisfies Readonly<Record<string, Load>>

export type Catalogue = typeof catalogue
