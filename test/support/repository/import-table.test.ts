// Shows that the import table refuses what it is there to refuse: a table that allows all would pass every other test.
import { expect, test } from 'vitest'
import { findImportObjection } from './import-table.ts'

const role = 'daemon/roles/consensus/session/contribute.ts'
const rules = 'daemon/roles/consensus/session/rules.ts'

test.each([
  ['the kernel knows no role', 'daemon/kernel/role/role.ts', 'daemon/roles/consensus/role.ts'],
  ['the kernel does no I/O', 'daemon/kernel/store/store.ts', 'node:fs'],
  ['a role knows no other role', role, 'daemon/roles/site/peers/model.ts'],
  ['a role knows no adapter', role, 'adapters/store/sqlite/store.ts'],
  ['a role does no I/O', role, 'node:fs'],
  ['a role uses no library', role, 'jose'],
  ['rules know no verb of their role', rules, role],
  ['an adapter knows no other leaf', 'adapters/store/sqlite/store.ts', 'adapters/store/opensearch/store.ts'],
  ['an adapter knows no role', 'adapters/store/sqlite/store.ts', role],
  ['an adapter keeps to its own library', 'adapters/store/sqlite/store.ts', 'fastify'],
  ['a daemon loads no role that it does not start', 'daemon/boot/serve.ts', 'daemon/every-role.ts'],
  ['a command loads no role that it does not need', 'cli/client/operations.ts', 'daemon/every-role.ts'],
  ['nor does one without a daemon', 'daemon/offline/site/site-profile.ts', 'daemon/every-role.ts'],
  ['the list of roles loads none', 'daemon/roles.ts', 'daemon/roles/consensus/role.ts'],
  ['boot leaves libraries to adapters', 'daemon/boot/start.ts', 'better-sqlite3'],
  ['a command that needs no daemon does not boot one', 'cli/commands/status.ts', 'daemon/boot/start.ts'],
  ['the screens see the client alone', 'cli/admin/screens/roles.tsx', 'daemon/roles.ts'],
  ['a unit test of a role brings in no adapter', 'daemon/roles/site/site.test.ts', 'adapters/host/log/log.ts'],
])('%s', (_claim, file, imported) => {
  expect(findImportObjection(file, imported)).toBeTypeOf('string')
})

test.each([
  ['daemon/kernel/encoding/canonical-json.ts', 'node:crypto'],
  [role, rules],
  [role, 'daemon/shared/label/model.ts'],
  [rules, 'daemon/roles/consensus/evidence/model.ts'],
  ['daemon/roles/consensus/session/rules.test.ts', 'fast-check'],
  ['adapters/store/sqlite/store.ts', 'better-sqlite3'],
  ['adapters/store/sqlite/store.ts', 'daemon/kernel/store/store.ts'],
  ['daemon/boot/start.ts', 'adapters/store/sqlite/store.ts'],
  ['cli/commands/serve.ts', 'daemon/boot/start.ts'],
  ['daemon/offline/store/store-restore.ts', 'daemon/boot/loaded-roles.ts'],
  ['cli/commands/keys-list.ts', 'daemon/offline/offline.ts'],
  ['test/tidy.test.ts', 'better-sqlite3'],
])('%s may import %s', (file, imported) => {
  expect(findImportObjection(file, imported)).toBeUndefined()
})
