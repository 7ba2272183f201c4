// The key of each role, with which it authenticates to the site's other processes: created, listed, rotated, revoked.
import * as z from 'zod'
import { generateKey, revokeKey, rotateKey } from '../../../adapters/keys/jose/key-lifecycle.ts'
import { type TokenKey, tokenKey } from '../../../adapters/keys/jose/token-keys.ts'
import { readListedKeys, roleSubject, updateKeyList } from '../../boot/identity/token-key-list.ts'
import { roleKeysFolder, type SiteFolder } from '../../boot/storage/site-folder.ts'
import { keyAlgorithm, type PublicKey, publicKey } from '../../kernel/cryptography/signatures.ts'
import { roles } from '../../roles.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import { type RoleTask, roleTask } from '../role-task/role-task.ts'
import { runRoleTask } from '../role-task/run-role-task.ts'
import { requireOwnership } from '../store/role-database.ts'
import type { KeyGenerationOptions } from './site-keys.ts'

export type RoleKey = PublicKey & { readonly role: string }

/**
 * Creates a key; the private half is on disk before the list names the key, so an interruption in between leaves a key
 * that signs nothing. Throws `OfflineCommandError` (3) if the role's files belong to another user.
 */
export async function generateRoleKey(
  folder: SiteFolder,
  role: string,
  terms: KeyGenerationOptions,
): Promise<PublicKey> {
  const key = await runAsRoleOwner(generateOwnKey, folder, role, terms)
  await updateKeyList(folder, (listed) => [...listed, toRoleTokenKey(role, key)])
  return key
}

/** The keys in the key list. */
export function listRoleKeys(folder: SiteFolder): RoleKey[] {
  return readListedKeys(folder).flatMap(({ only_subject, ...key }) =>
    only_subject === undefined ? [] : [{ ...key, role: only_subject.slice(roleSubject('').length) }],
  )
}

export async function rotateRoleKey(folder: SiteFolder, role: string, kid: string, terms: KeyGenerationOptions) {
  const rotation = await runAsRoleOwner(rotateOwnKey, folder, role, { kid, ...terms })
  await updateKeyList(folder, (listed) => [
    ...listed.map((key): TokenKey => (key.kid === kid ? { ...key, status: 'retired' } : key)),
    toRoleTokenKey(role, rotation.created),
  ])
  return rotation
}

/** Deletes the private half; the caller marks the key as revoked in the list. */
export async function revokeRoleKey(folder: SiteFolder, role: string, kid: string): Promise<PublicKey> {
  return await runAsRoleOwner(revokeOwnKey, folder, role, { kid })
}

/** Throws `OfflineCommandError` (3) if this user may not change the role's key. */
export function requireRoleKeyAccess(folder: SiteFolder, role: string): void {
  requireOwnership(roleKeysFolder(folder, role), `the key of ${role}`)
}

/** Throws `OfflineCommandError` (3) if the files of the role belong to another user, (2) if there is no such role. */
export async function runAsRoleOwner<Input, Output>(
  task: RoleTask<Input, never, Output>,
  folder: SiteFolder,
  name: string,
  input: Input,
): Promise<Output> {
  requireRoleKeyAccess(folder, name)
  const role = roles.find((candidate) => candidate.name === name)
  if (!role) throw new OfflineCommandError(2, `there is no role ${name}`)
  return await runRoleTask(task, { folder, env: {}, role }, input)
}

const keyTerms = z.strictObject({
  algorithm: keyAlgorithm.optional(),
  now: z.number(),
  not_after: z.string().optional(),
})

function selectTerms({ algorithm, now, not_after }: z.infer<typeof keyTerms>) {
  return { now, ...(algorithm ? { algorithm } : {}), ...(not_after ? { not_after } : {}) }
}

const ownKeyTask = { event: z.never(), locateFolder: roleKeysFolder }

export const generateOwnKey = roleTask({
  ...ownKeyTask,
  name: 'generate-role-key',
  input: keyTerms,
  output: publicKey,
  run: ({ folder, role }, terms) =>
    generateKey(roleKeysFolder(folder, role.name), { use: 'token', ...selectTerms(terms) }),
})

export const rotateOwnKey = roleTask({
  ...ownKeyTask,
  name: 'rotate-role-key',
  input: keyTerms.extend({ kid: z.string() }),
  output: z.strictObject({ created: publicKey, retired: publicKey }),
  run: ({ folder, role }, { kid, ...terms }) => rotateKey(roleKeysFolder(folder, role.name), kid, selectTerms(terms)),
})

export const revokeOwnKey = roleTask({
  ...ownKeyTask,
  name: 'revoke-role-key',
  input: z.strictObject({ kid: z.string() }),
  output: publicKey,
  run: async ({ folder, role }, { kid }) => revokeKey(roleKeysFolder(folder, role.name), kid),
})

function toRoleTokenKey(role: string, key: PublicKey): TokenKey {
  return tokenKey.parse({ ...key, only_subject: roleSubject(role) })
}
