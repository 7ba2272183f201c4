// People for commands: enrolled with the public half of their own key, listed, and removed.
import { peopleFiles } from '../../../adapters/peers/files/people-files.ts'
import { peopleFolder, type SiteFolder } from '../../boot/storage/site-folder.ts'
import type { PublicKey } from '../../kernel/cryptography/signatures.ts'
import { speakFingerprint } from '../../kernel/cryptography/spoken-fingerprint.ts'
import { formatFieldErrors, parseWithSchema } from '../../kernel/error/parsing.ts'
import { type Person, personalKey, person as personSchema } from '../../kernel/identity/person.ts'
import { recordOperatorAction } from '../audit/operator-action.ts'
import { listSiteKeys as ownKeys, parseJwks } from '../keys/site-keys.ts'
import { OfflineCommandError } from '../offline-command-error.ts'
import type { EnvironmentVariables } from '../site/site-profile.ts'

/** Parses the personal keys of an exported file. Throws `OfflineCommandError` if there is none. */
export function parsePersonalKeys(text: string): PublicKey[] {
  const keys = parseJwks(text).filter(({ use, status }) => use === 'personal' && status === 'active')
  if (keys.length > 0) return keys
  throw new OfflineCommandError(
    2,
    'the file contains no active personal key',
    '`platform keys generate --use personal --dir DIR` makes one, `platform keys export --dir DIR` the file',
  )
}

/** The groups of the fingerprint that the person reads aloud for these keys. */
export function speakPersonalKeys(keys: readonly PublicKey[]): readonly string[] {
  return speakFingerprint({ owner: { type: 'person' }, keys })
}

export type NewPerson = {
  readonly subject: string
  readonly key: PublicKey
  /** Epoch milliseconds. */
  readonly now: number
}

/**
 * Enrols a person, or adds a new key for a removed one. Throws `OfflineCommandError` for a subject with an active key, and
 * for a key that anybody here has or had: no two people share a key.
 */
export async function enrolPerson(
  folder: SiteFolder,
  env: EnvironmentVariables,
  newPerson: NewPerson,
): Promise<Person> {
  const { subject, key, now } = newPerson
  const files = peopleFiles(peopleFolder(folder))
  const enrolled = await files.list()
  const existing = enrolled.find((person) => person.subject === subject)
  if (existing && findActiveKey(existing)) {
    throw new OfflineCommandError(
      3,
      `${subject} is enrolled already`,
      `platform people remove ${subject}, to enrol another key`,
    )
  }
  const { fingerprint } = key
  const owner = enrolled.find(({ keys }) => keys.some((ownKey) => ownKey.fingerprint === fingerprint))
  if (owner)
    throw new OfflineCommandError(3, `this key is, or was, that of ${owner.subject}; it cannot be enrolled again`)
  if (ownKeys(folder).some((siteKey) => siteKey.fingerprint === fingerprint)) {
    throw new OfflineCommandError(
      3,
      'the private half of this key is in the site’s own key folder; only the person may have it',
    )
  }
  const validation = parseWithSchema(personSchema, {
    subject,
    keys: [...(existing?.keys ?? []), personalKey.parse(key)],
    enrolled: new Date(now).toISOString(),
  })
  if (!validation.success)
    throw new OfflineCommandError(2, `this person cannot be enrolled: ${formatFieldErrors(validation.errors)}`)
  await files.put(validation.data)
  await recordOperatorAction(folder, env, { action: 'site.person.add', target: subject, detail: { fingerprint } })
  return validation.data
}

/** Lists people by subject. */
export async function listPeople(folder: SiteFolder): Promise<Person[]> {
  const people = await peopleFiles(peopleFolder(folder)).list()
  return people.sort((a, b) => (a.subject < b.subject ? -1 : 1))
}

/** Throws `OfflineCommandError` (1) if the subject is not enrolled. */
export async function getPerson(folder: SiteFolder, subject: string): Promise<Person> {
  const person = (await listPeople(folder)).find((person) => person.subject === subject && findActiveKey(person))
  if (person) return person
  throw new OfflineCommandError(1, `${subject} is not enrolled`, '`platform people list` shows who is')
}

/**
 * Revokes the person's key at once. The record stays, for earlier signatures, and so that the key is never enrolled
 * again.
 */
export async function removePerson(folder: SiteFolder, env: EnvironmentVariables, subject: string): Promise<void> {
  const person = await getPerson(folder, subject)
  const keys = person.keys.map((key) => ({ ...key, status: 'revoked' as const }))
  await peopleFiles(peopleFolder(folder)).put({ ...person, keys })
  const fingerprint = findActiveKey(person)?.fingerprint
  await recordOperatorAction(folder, env, { action: 'site.person.remove', target: subject, detail: { fingerprint } })
}

/** The key that verifies the person's signatures; undefined for a removed person. */
function findActiveKey({ keys }: Person): PublicKey | undefined {
  return keys.find(({ status }) => status === 'active')
}
