// Checks the clock against the latest recorded times of the site, its file system, and the time service.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { listKeys } from '../../../../adapters/keys/jose/key-lifecycle.ts'
import { sqliteJournal } from '../../../../adapters/store/sqlite/journal/journal.ts'
import { runAsOwnerOf } from '../../../boot/host/act-as-owner.ts'
import type { SiteFolder } from '../../../boot/storage/site-folder.ts'
import type { Journal } from '../../../kernel/messaging/journal.ts'
import { getSettings } from '../../../kernel/settings/get-settings.ts'
import { filedropSettings } from '../../../roles/site/settings.ts'
import { roleTask } from '../../role-task/role-task.ts'
import { runRoleTask } from '../../role-task/run-role-task.ts'
import { resolveProfile } from '../../site/site-profile.ts'
import { listRolesWithDatabase, withDatabase } from '../../store/role-database.ts'
import type { DoctorContext } from '../examine-site.ts'
import { type DoctorFinding, day_ms, reportOk, reportProblem, reportWarning } from '../finding.ts'

/** Tokens tolerate one minute and messages a quarter of an hour, but two clocks of one machine should agree. */
const file_clock_tolerance_ms = 5_000
const set_back_tolerance_ms = 60_000
/** A site in use records something every day. */
const max_silent_days = 30

const remedy = 'set the clock (chronyc makestep, or timedatectl set-time), then run `platform doctor` again'

export async function checkClock(context: DoctorContext): Promise<DoctorFinding[]> {
  const { folder, env, now } = context
  const { event, at_ms } = await findNewestEvent(context)
  if (at_ms > now + set_back_tolerance_ms) {
    return [
      reportProblem(
        'clock.set_back',
        `the clock says ${formatInstant(now)}, but ${event} later, at ${formatInstant(at_ms)}`,
        remedy,
      ),
    ]
  }
  const findings = [
    ...checkClockAhead(event, at_ms, now),
    ...checkFileClockDrift(folder),
    ...(await checkSynchronisation(folder, env)),
  ]
  return findings.length > 0 ? findings : [reportOk('clock', formatInstant(now))]
}

function checkClockAhead(event: string, at_ms: number, now: number): DoctorFinding[] {
  const days = Math.floor((now - at_ms) / day_ms)
  if (at_ms === 0 || days < max_silent_days) return []
  const detail = `the clock says ${formatInstant(now)}, and ${event} last ${days} days ago: either the site was idle, or the clock jumped ahead`
  return [
    reportWarning(
      'clock.ahead',
      detail,
      'compare it with another clock before the site runs: wrong dates in records are permanent',
    ),
  ]
}

function checkFileClockDrift({ run }: SiteFolder): DoctorFinding[] {
  const drift_ms = Math.abs(runAsOwnerOf(run, () => readFileClock_ms(run)) - Date.now())
  if (drift_ms <= file_clock_tolerance_ms) return []
  const detail = `the file system’s clock differs from the machine’s by ${Math.round(drift_ms / 1000)} s`
  return [
    reportWarning(
      'clock.file_system_differs',
      detail,
      'set both clocks from one source; a network file system has its own',
    ),
  ]
}

/** Reads the time that the file system gives a new file. */
function readFileClock_ms(dir: string): number {
  const probe = join(dir, `.clock-${randomBytes(6).toString('hex')}`)
  fs.writeFileSync(probe, '', { flag: 'wx', mode: 0o600 })
  try {
    return fs.statSync(probe).mtimeMs
  } finally {
    fs.rmSync(probe, { force: true })
  }
}

const datedEvent = z.strictObject({ event: z.string(), at_ms: z.number() })
type DatedEvent = z.infer<typeof datedEvent>

/** Returns the latest time that the site has recorded: of a key, an audit record, a message. */
async function findNewestEvent({ folder, env }: DoctorContext): Promise<DatedEvent> {
  const times: DatedEvent[] = listKeys(folder.keys).map(({ created }) => ({
    event: 'a key of this site was created',
    at_ms: Date.parse(created),
  }))
  for (const role of listRolesWithDatabase(folder))
    times.push(...(await runRoleTask(findNewestRecords, { folder, env, role }, null)))
  return times.reduce((latest, candidate) => (candidate.at_ms > latest.at_ms ? candidate : latest), {
    event: '',
    at_ms: 0,
  })
}

export const findNewestRecords = roleTask({
  name: 'find-newest-records',
  input: z.null(),
  event: z.never(),
  output: z.array(datedEvent),
  run: ({ folder, role }) =>
    withDatabase(folder, role, async ({ audit, sqlite }) => {
      const [newest] = await audit.list({ limit: 1 })
      const at_ms = newest?.event ? Date.parse(newest.event.at) : 0
      const auditEvent = { event: `${role.name} wrote an audit record`, at_ms }
      if (role.name !== 'site') return [auditEvent]
      return [
        auditEvent,
        { event: 'a message was received or sent', at_ms: await findLastMessageTime(sqliteJournal(sqlite, audit)) },
      ]
    }),
})

async function findLastMessageTime(journal: Journal): Promise<number> {
  let latest_ms = 0
  for (const { channel, direction, epoch, inventory_at } of await journal.channels()) {
    const { highest } = await journal.progress(channel, epoch)
    const entry = direction === 'in' ? await journal.entry(channel, epoch, highest) : undefined
    latest_ms = Math.max(latest_ms, inventory_at, entry?.at ?? 0)
  }
  return latest_ms
}

/** Reports the state of systemd's time service, if it exists and the profile trusts the clock. */
async function checkSynchronisation(folder: SiteFolder, env: DoctorContext['env']): Promise<DoctorFinding[]> {
  if (!getSettings(resolveProfile(folder, env), filedropSettings).trusted_clock) return []
  if ((await queryTimeService(env)) !== 'no') return []
  const remedyText = 'give the machine a source of time (NTP, a radio clock), or set filedrop.trusted_clock to false'
  return [reportWarning('clock.not_synchronised', 'the machine’s clock is not synchronised', remedyText)]
}

function queryTimeService(env: DoctorContext['env']): Promise<string | undefined> {
  // An empty path would mean the current folder.
  const { PATH } = env
  if (!PATH) return Promise.resolve(undefined)
  const options = { timeout: 2_000, env: { PATH } }
  return new Promise((resolve) => {
    execFile('timedatectl', ['show', '--property=NTPSynchronized', '--value'], options, (error, stdout) => {
      resolve(error ? undefined : stdout.trim())
    })
  })
}

function formatInstant(at_ms: number): string {
  return new Date(at_ms).toISOString()
}
