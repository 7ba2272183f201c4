// What the intelligence role is given for intake: secrets of files, and an adapter for each source that is polled.
import { createHash } from 'node:crypto'
import { nextTimeOf } from '../../../adapters/host/schedule/cron.ts'
import { parseSoundJson } from '../../../adapters/serve/http/sound-json.ts'
import type { PartKey } from '../../kernel/call.ts'
import type { PolledSource } from '../../kernel/polled.ts'
import type { Resolved } from '../../kernel/settings.ts'
import { pointed } from '../../roles/intelligence/intake/mapping/rules.ts'
import {
  type Polls,
  pollsPart,
  type Secrets,
  schedulePart,
  secretsPart,
  seenPart,
  tallyPart,
  windowsPart,
} from '../../roles/intelligence/intake/parts.ts'
import { Schedule } from '../../roles/intelligence/intake/poll/schedule.ts'
import { intakeSettings, type Source } from '../../roles/intelligence/intake/settings.ts'
import { Tally } from '../../roles/intelligence/intake/source/tally.ts'
import { Windows } from '../../roles/intelligence/intake/webhook/windows.ts'
import { Seen } from '../../roles/intelligence/intake/within/seen.ts'
import { valuesOf } from '../profile.ts'
import { readSecret, readSecrets } from './secret-files.ts'
import { readText } from './text-file.ts'

/** About 10 MB of keys at most, where a site has that many conflicts and quarantined messages. */
const most_seen = 50_000

export async function intakeParts(resolved: Resolved): Promise<[string, unknown][]> {
  const named = <P>(key: PartKey<P>, value: P): [string, unknown] => [key.name, value]
  const sources = new Map<string, PolledSource>()
  for (const source of valuesOf(resolved, intakeSettings).sources) {
    const polled = await polledOf(source)
    if (polled) sources.set(source.name, polled)
  }
  return [
    named<Secrets>(secretsPart, { read: readSecrets }),
    named<Polls>(pollsPart, { sources, nextOf: nextTimeOf }),
    named(windowsPart, new Windows()),
    named(tallyPart, new Tally()),
    named(schedulePart, new Schedule()),
    named(seenPart, new Seen(most_seen)),
  ]
}

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const read = (bytes: Uint8Array) => parseSoundJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))

/** Only what the profile names is loaded. */
async function polledOf(source: Source): Promise<PolledSource | undefined> {
  if (source.kind === 'folder') {
    const { folderSource } = await import('../../../adapters/intake/folder/folder-source.ts')
    return folderSource({ path: source.path, read, digest })
  }
  if (source.kind !== 'http') return undefined
  const { httpSource } = await import('../../../adapters/intake/http/http-source.ts')
  const { url, authorization_file, ca_file, cursor, timeout_s } = source
  return httpSource({
    url,
    ...(authorization_file === undefined ? {} : { authorization: () => readSecret(authorization_file) }),
    ...(ca_file === undefined ? {} : { ca: () => readText(ca_file) }),
    ...(cursor ? { cursor: { at: (document) => pointed(document, cursor.at), parameter: cursor.parameter } } : {}),
    timeout_ms: timeout_s * 1_000,
    read,
    digest,
  })
}
