// Connects the intelligence role to adapters: secrets from files, and polled sources.
import { createHash } from 'node:crypto'
import { parseSchedule } from '../../../adapters/host/schedule/cron.ts'
import { parseUntrustedJson } from '../../../adapters/serve/http/untrusted-json.ts'
import type { RoleWire } from '../../boot/role-wire.ts'
import { isRefusal } from '../../kernel/error/errors.ts'
import type { Dependency, DependencyFinding } from '../../kernel/role/dependency.ts'
import { ObservedDependencies, observedDependenciesPart } from '../../kernel/role/observed-dependencies.ts'
import type { PartKey } from '../../kernel/role/part.ts'
import type { Schedule } from '../../kernel/schedule/schedule.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import type { ProfileProblem } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { resolvePointer } from '../../roles/intelligence/signal-intake/mapping/rules.ts'
import {
  type IntakeSecrets,
  type PolledSources,
  polledSourcesPart,
  pollSchedulePart,
  rateWindowsPart,
  secretsPart,
  seenCausesPart,
  sourceTallyPart,
} from '../../roles/intelligence/signal-intake/parts.ts'
import { RateWindows } from '../../roles/intelligence/signal-intake/rate-windows.ts'
import { type IntakeSource, intakeSettings, sourceDependency } from '../../roles/intelligence/signal-intake/settings.ts'
import { SeenCauses } from '../../roles/intelligence/signal-intake/site-cause/seen-causes.ts'
import { PollSchedule } from '../../roles/intelligence/signal-source/poll-schedule.ts'
import { SourceTally } from '../../roles/intelligence/signal-source/source-tally.ts'
import type { PolledSource } from '../../shared/polled-source/polled-source.ts'
import { readSecret, readSecrets } from './secret-files.ts'
import { readTextFile } from './text-file.ts'

/** Values of one document of a polled source, which the operator has configured. */
const max_source_values = 200_000

/** At most about 10 MB of keys, on a site with that many conflicts and quarantined messages. */
const max_seen_keys = 50_000

export const wire: RoleWire = {
  findStartProblems: async ({ resolved }) => readSchedules(resolved).problems,
  async open({ resources: { resolved } }) {
    const { sources } = getSettings(resolved, intakeSettings)
    const polled = sources.filter(({ kind }) => kind !== 'webhook').map(({ name }) => sourceDependency(name))
    const observed = new ObservedDependencies(polled)
    const entryOf = <P>(key: PartKey<P>, value: P): [string, unknown] => [key.name, value]
    return {
      parts: [
        entryOf<IntakeSecrets>(secretsPart, { read: readSecrets }),
        entryOf<PolledSources>(polledSourcesPart, {
          sources: await openPolledSources(resolved),
          schedules: readSchedules(resolved).schedules,
        }),
        entryOf(rateWindowsPart, new RateWindows()),
        entryOf(sourceTallyPart, new SourceTally()),
        entryOf(pollSchedulePart, new PollSchedule()),
        entryOf(seenCausesPart, new SeenCauses(max_seen_keys)),
        entryOf(observedDependenciesPart, observed),
      ],
      dependencies: [...observed.list(), ...sources.flatMap(webhookDependency)],
    }
  },
}

/** What a webhook source needs is its secrets. Deliveries say nothing of its health, since strangers send them too. */
function webhookDependency(source: IntakeSource): Dependency[] {
  if (source.kind !== 'webhook') return []
  const probe = async (): Promise<DependencyFinding> => {
    const secrets = await readSecrets(source.secret_files)
    if (isRefusal(secrets)) return { state: 'down', detail: secrets.message }
    return { state: 'ok', detail: 'its secrets can be read' }
  }
  return [{ name: sourceDependency(source.name), probe }]
}

/** Schedules by the name of their source, and the problems of those that are none. */
function readSchedules(resolved: ResolvedSettings) {
  const schedules = new Map<string, Schedule>()
  const problems: ProfileProblem[] = []
  for (const [at, source] of getSettings(resolved, intakeSettings).sources.entries()) {
    if (source.kind === 'webhook' || source.cron === undefined) continue
    const schedule = parseSchedule(source.cron)
    if (isRefusal(schedule)) problems.push({ path: `intake.sources.${at}.cron`, message: schedule.message })
    else schedules.set(source.name, schedule)
  }
  return { schedules, problems }
}

async function openPolledSources(resolved: ResolvedSettings): Promise<Map<string, PolledSource>> {
  const sources = new Map<string, PolledSource>()
  for (const source of getSettings(resolved, intakeSettings).sources) {
    const polled = await openPolledSource(source)
    if (polled) sources.set(source.name, polled)
  }
  return sources
}

const sha256Hex = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const parseJsonBytes = (bytes: Uint8Array) =>
  parseUntrustedJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), max_source_values)

/** Loads only the adapters that the profile uses. */
async function openPolledSource(source: IntakeSource): Promise<PolledSource | undefined> {
  if (source.kind === 'folder') {
    const { folderSource } = await import('../../../adapters/intake/folder/folder-source.ts')
    return folderSource({ path: source.path, read: parseJsonBytes, digest: sha256Hex })
  }
  if (source.kind !== 'http') return undefined
  const { httpSource } = await import('../../../adapters/intake/http/http-source.ts')
  const { url, authorization_file, ca_file, cursor, timeout_s } = source
  return httpSource({
    url,
    ...(authorization_file === undefined ? {} : { authorization: () => readSecret(authorization_file) }),
    ...(ca_file === undefined ? {} : { ca: () => readTextFile(ca_file) }),
    ...(cursor
      ? { cursor: { at: (document) => resolvePointer(document, cursor.at), parameter: cursor.parameter } }
      : {}),
    timeout_ms: timeout_s * 1_000,
    read: parseJsonBytes,
    digest: sha256Hex,
  })
}
